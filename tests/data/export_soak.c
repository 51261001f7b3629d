/* A million random calls of an exported engine, with arguments of any kind. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "GAME.h"

static uint64_t state = 88172645463325252u;

static uint64_t number(uint64_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return below ? state % below : state;
}

/* Small numbers, and now and then extreme ones. */
static int32_t any(int32_t most)
{
    switch (number(12)) {
    case 0: return INT32_MIN;
    case 1: return INT32_MAX;
    case 2: return -1;
    case 3: return (int32_t)number(0);
    default: return (int32_t)number((uint64_t)most + 1);
    }
}

static int stop_sometimes(const cutnode_result *result, void *user)
{
    *(int64_t *)user += result->nodes >= 0;
    return number(4) != 0;
}

int main(int count, char **values)
{
    long calls = count > 1 ? atol(values[1]) : 1000000, failed = 0;
    int64_t told = 0;
    cutnode_engine *engine = cutnode_create(1, 1);
    static int32_t moves[CUTNODE_MOST_MOVES];
    static uint8_t cells[4096];
    uint64_t words[CUTNODE_WORDS + 1];
    cutnode_result result;
    cutnode_state now;
    for (long call = 0; call < calls; call++) {
        cutnode_limits limits = {
            .depth = any(4),
            .techniques = any(2),
            .nodes = number(8) ? 1 + (int64_t)number(300) : (int64_t)number(0),
            .playouts = number(8) ? 1 + (int64_t)number(30) : -1,
            .seconds = number(8) ? 0.001 : (double)(int64_t)number(0),
            .seed = number(0),
        };
        if (limits.nodes < 0 || limits.nodes > 300)
            limits.seconds = limits.seconds > 0 ? 0.001 : limits.seconds;
        int code = 0, found;
        double odds;
        int64_t lines;
        switch (number(call % 64 ? 14 : 20)) {
        default:
            found = cutnode_moves(engine, moves, CUTNODE_MOST_MOVES);
            if (found > 0)
                code = cutnode_play(engine, moves[number((uint64_t)found)]);
            else if (cutnode_state_of(engine, &now) == CUTNODE_OK && now.outcomes > 0)
                code = cutnode_roll(engine, (int32_t)number((uint64_t)now.outcomes));
            else
                code = cutnode_reset(engine);
            break;
        case 1: code = cutnode_play(engine, any(CUTNODE_MOST_MOVES)); break;
        case 2: code = cutnode_roll(engine, any(8)); break;
        case 3: code = cutnode_undo(engine); break;
        case 4: code = cutnode_odds(engine, any(8), &odds); break;
        case 5: code = cutnode_cells(engine, cells, any(4096) % 4097); break;
        case 6: code = cutnode_moves(engine, moves, any(CUTNODE_MOST_MOVES) % (CUTNODE_MOST_MOVES + 1)); break;
        case 7:
            for (int at = 0; at <= CUTNODE_WORDS; at++)
                words[at] = number(0);
            code = cutnode_set_words(engine, words, number(4) ? CUTNODE_WORDS + 1 : any(9));
            break;
        case 8:
            code = cutnode_words(engine, words, CUTNODE_WORDS + 1);
            if (code > 0 && number(2))
                words[number(CUTNODE_WORDS + 1)] ^= 1ull << number(64);
            code = cutnode_set_words(engine, words, CUTNODE_WORDS + 1);
            break;
        case 9: {
            char text[8];
            for (int at = 0; at < 7; at++)
                text[at] = (char)(32 + number(96));
            text[7] = 0;
            code = cutnode_parse_move(engine, number(8) ? text : NULL);
            cutnode_move_text(any(CUTNODE_MOST_MOVES), any(1));
            break;
        }
        case 10: code = cutnode_perft(engine, any(2), &lines); break;
        case 11: code = cutnode_on_progress(engine, number(2) ? stop_sometimes : NULL, &told); break;
        case 12: cutnode_stop(engine); break;
        case 14: code = cutnode_search(engine, &limits, &result); break;
        case 15: code = cutnode_solve(engine, &limits, &result); break;
        case 16: code = cutnode_mate(engine, &limits, &result); break;
        case 17: code = cutnode_playouts(engine, &limits, &result); break;
        case 18: code = cutnode_forget(engine); break;
        case 19:
            cutnode_free(engine);
            engine = cutnode_create(1 + (int64_t)number(2), (int64_t)number(3));
            if (!engine || cutnode_create(any(0) - 5, 0))
                return 1;
            break;
        }
        if (code < 0) {
            failed++;
            if (code < CUTNODE_RULES || !*cutnode_message(engine))
                return 2;
        }
    }
    cutnode_free(engine);
    printf("%ld calls, %ld refused\n", calls, failed);
    return 0;
}
