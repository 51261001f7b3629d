/* Play a game of GAME against itself, a search of 100,000 nodes for each move.
 *
 *     cc example.c -Iinclude -Llib/x86_64-linux -lGAME -lm -o example
 */
#include <stdio.h>

#include "GAME.h"

int main(void)
{
    cutnode_engine *engine = cutnode_create(16, 0);
    if (!engine) {
        fputs("there is no memory for the engine\n", stderr);
        return 1;
    }
    cutnode_state state;
    while (cutnode_state_of(engine, &state) == CUTNODE_OK && state.ending == CUTNODE_RUNNING) {
        cutnode_limits limits = {.nodes = 100000};
        cutnode_result result;
        if (state.outcomes > 0) {
            if (cutnode_roll(engine, state.plies % state.outcomes) != CUTNODE_OK)
                break;
            continue;
        }
        int code = cutnode_search(engine, &limits, &result);
        if (code == CUTNODE_MISSING)
            code = cutnode_solve(engine, &limits, &result);
        if (code != CUTNODE_OK || result.move < 0)
            break;
        const char *text = cutnode_move_text(result.move, state.side);
        if (text)
            printf("%s", text);
        else
            printf("move %d", result.move);
        printf("\tvalue %g, depth %d, %lld nodes\n", result.value, result.depth,
               (long long)result.nodes);
        if (cutnode_play(engine, result.move) != CUTNODE_OK)
            break;
    }
    puts(cutnode_message(engine));
    cutnode_free(engine);
    return 0;
}
