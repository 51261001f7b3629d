/* The game in progress: its rules, its record, and the memory of an engine. */
#include "internal.h"

#ifndef __wasm__
#include <stdlib.h>
#endif

static const uint64_t example[CUTNODE_WORDS];

/* Memory */

static uintptr_t take(cutnode_engine *engine, uint64_t size)
{
    uintptr_t part = engine->end;
    engine->end += (uintptr_t)((size + LINE - 1) / LINE * LINE);
    return part;
}

static char *take_watched(cutnode_engine *engine, uint64_t size)
{
    take(engine, WATCH_ROOM);
    return (char *)take(engine, size);
}

/* Lay the parts of an engine's memory out from an address on. */
static void lay_out(cutnode_engine *engine, uintptr_t start, int64_t table_mib, int64_t tree_mib)
{
    engine->end = start;
    take(engine, sizeof(cutnode_engine));
    engine->plies = (ply *)take(engine, sizeof(ply) * (CUTNODE_MOST_PLIES + 2));
    engine->about = (char *)take(engine, ABOUT_SIZE);
    engine->moves = (int64_t *)take(engine, 8 * MOVES_ROOM);
    engine->replies = (int64_t *)take(engine, 8 * MOVES_ROOM);
    engine->plain = (char *)take(engine, PLAIN_SIZE);
    engine->rows = (char *)take(engine, ROWS_SIZE);
    engine->control = (char *)take(engine, CONTROL_SIZE);
    engine->kept = take(engine, KEPT_BYTES);
    engine->search = take_watched(engine, SEARCH_SIZE);
    engine->solver = take_watched(engine, SOLVER_SIZE);
    engine->mate = take_watched(engine, MATE_SIZE);
    engine->tree = take_watched(engine, TREE_SIZE);
#ifdef HAS_PLAYOUTS
    engine->capacity = (tree_mib << 20) / (2 * (NODE_SIZE + ARM_SIZE + SUM_SIZE));
#else
    engine->capacity = 0 * tree_mib;
#endif
    for (int space = 0; space < 2; space++) {
        engine->nodes[space] = (char *)take(engine, NODE_SIZE * (uint64_t)engine->capacity);
        engine->arms[space] = (char *)take(engine, ARM_SIZE * (uint64_t)engine->capacity);
        engine->sums[space] = (char *)take(engine, SUM_SIZE * (uint64_t)engine->capacity);
    }
    engine->table_words = table_mib << 17;
    engine->table = (uint64_t *)take(engine, (uint64_t)engine->table_words * 8);
}

/* Fill a memory of zeros from its image: runs of equal words. */
static void fill_zeros(char *memory, const uint64_t *image)
{
    for (; image[1]; image += 3)
        for (uint64_t at = 0; at < image[1]; at++)
            U64(memory, 8 * (image[0] + at)) = image[2];
}

void cutnode_fill(char *memory, size_t size, const uint64_t *image)
{
    memset(memory, 0, size);
    fill_zeros(memory, image);
}

/* The most MiB of tables where an address has 32 bits; the rest is for all else. */
#define MOST_MIB_OF_32_BITS 3840

static watch *watch_of(char *memory)
{
    return (watch *)(memory - WATCH_ROOM);
}

static void name_fields(cutnode_engine *engine, char *memory, size_t stop, size_t limit,
                        size_t nodes, size_t more)
{
    static int64_t none;
    watch *watched = watch_of(memory);
    watched->engine = engine;
    watched->stop = &I64(memory, stop);
    watched->limit = &I64(memory, limit);
    watched->nodes = &I64(memory, nodes);
    watched->more = more ? &I64(memory, more) : &none;
}

/* Learned weights refer to rows of their own by address. */
static void place_weights(void)
{
#ifdef HAS_WEIGHTS
    for (uint64_t at = 1; at <= 2 * cutnode_places[0]; at += 2)
        cutnode_weights[cutnode_places[at]] =
            (uintptr_t)((char *)cutnode_weights + cutnode_places[at + 1]);
#endif
}

cutnode_engine *cutnode_create(int64_t table_mib, int64_t tree_mib)
{
    if (table_mib < 1 || table_mib > MOST_MIB || tree_mib < 0 || tree_mib > MOST_MIB)
        return NULL;
    if (sizeof(uintptr_t) == 4 && table_mib + tree_mib > MOST_MIB_OF_32_BITS)
        return NULL;
    cutnode_engine measured;
    lay_out(&measured, LINE, table_mib, tree_mib);
    char *block = calloc(1, measured.end);
    if (!block)
        return NULL;
    uintptr_t start = ((uintptr_t)block + LINE - 1) / LINE * LINE;
    cutnode_engine *engine = (cutnode_engine *)start;
    engine->block = block;
    lay_out(engine, start, table_mib, tree_mib);
    place_weights();
    engine->techniques = -1;
#ifdef HAS_SEARCH
    name_fields(engine, engine->search, AT_SEARCH_STOP, AT_SEARCH_NODE_LIMIT, AT_SEARCH_NODES, 0);
#endif
#ifdef HAS_SOLVE
    name_fields(engine, engine->solver, AT_SOLVER_STOP, AT_SOLVER_NODE_LIMIT, AT_SOLVER_NODES, 0);
    fill_zeros(engine->solver, cutnode_solver_image);
#endif
#ifdef HAS_MATE
    name_fields(engine, engine->mate, AT_MATE_STOP, AT_MATE_NODE_LIMIT, AT_MATE_NODES, 0);
    fill_zeros(engine->mate, cutnode_mate_image);
#endif
#ifdef HAS_PLAYOUTS
    name_fields(engine, engine->tree, AT_TREE_STOP, AT_TREE_NODE_LIMIT, AT_TREE_NODES,
                AT_TREE_ROLLOUT_PLIES);
    fill_zeros(engine->tree, cutnode_tree_image);
#endif
    engine->table[TABLE_COLD] = 1;
    if (cutnode_reset(engine) != CUTNODE_OK) {
        free(block);
        return NULL;
    }
    return engine;
}

void cutnode_free(cutnode_engine *engine)
{
    if (engine)
        free(engine->block);
}

const char *cutnode_message(const cutnode_engine *engine)
{
    return engine ? engine->message : "there is no engine";
}

const char *cutnode_about(void)
{
    return cutnode_about_text;
}

/* Messages */

static size_t append(char *to, size_t at, const char *text)
{
    while (*text && at + 1 < MESSAGE)
        to[at++] = *text++;
    to[at] = 0;
    return at;
}

int cutnode_fail(cutnode_engine *engine, int code, const char *text)
{
    append(engine->message, 0, text);
    return code;
}

/* Fail with a text that tells what was got. */
int cutnode_fail_got(cutnode_engine *engine, int code, const char *text, int64_t got)
{
    char digits[24];
    size_t at = sizeof digits - 1;
    uint64_t left = got < 0 ? -(uint64_t)got : (uint64_t)got;
    digits[at] = 0;
    do
        digits[--at] = (char)('0' + left % 10);
    while (left /= 10);
    if (got < 0)
        digits[--at] = '-';
    append(engine->message, append(engine->message, append(engine->message, 0, text), ", got "),
           digits + at);
    return code;
}

int cutnode_broken(cutnode_engine *engine)
{
    return cutnode_fail(engine, CUTNODE_RULES, "the rules of the game broke their contract");
}

/* The record */

/* Ask the rules about the current position. */
static int ask_rules(cutnode_engine *engine)
{
    ply *now = cutnode_current(engine);
    engine->move_count = 0;
    if (cutnode_describe(example, now->words, CUTNODE_WORDS, engine->about))
        return cutnode_broken(engine);
    now->recurrence = U64(engine->about, AT_ABOUT_RECURRENCE);
    if (HAS_TURNS)
        now->side = I64(engine->about, AT_ABOUT_PLAYER) & 1;
    if (I64(engine->about, AT_ABOUT_OVER) || I64(engine->about, AT_ABOUT_OUTCOMES) > 0)
        return CUTNODE_OK;
    int64_t count = 0;
    if (cutnode_list_moves(&count, example, now->words, CUTNODE_WORDS, engine->moves, MOVES_ROOM))
        return cutnode_broken(engine);
    if (count < 1 || count > CUTNODE_MOST_MOVES)
        return cutnode_broken(engine);
    engine->move_count = count;
    return CUTNODE_OK;
}

int cutnode_ending(const cutnode_engine *engine)
{
    const ply *now = &engine->plies[engine->count];
    if (I64(engine->about, AT_ABOUT_OVER) || I64(engine->about, AT_ABOUT_DRAWN))
        return CUTNODE_BY_RULES;
    int64_t often = 1;
    for (int64_t at = engine->count - now->run; at < engine->count; at++)
        often += engine->plies[at].recurrence == now->recurrence;
    if (often >= REPETITIONS)
        return CUTNODE_BY_REPETITION;
    return engine->count >= CUTNODE_MOST_PLIES ? CUTNODE_BY_LENGTH : CUTNODE_RUNNING;
}

/* Write the recurrences of earlier positions whose next repetition is a draw; return their number. */
int64_t cutnode_before(cutnode_engine *engine, uint64_t *path)
{
    const ply *now = cutnode_current(engine);
    int64_t first = engine->count - now->run, count = 0;
    if (first < engine->count + 1 - MOST_BEFORE)
        first = engine->count + 1 - MOST_BEFORE;
    for (int64_t at = first; at < engine->count; at++) {
        uint64_t word = engine->plies[at].recurrence;
        int64_t often = 0;
        for (int64_t earlier = first; earlier <= at; earlier++)
            often += engine->plies[earlier].recurrence == word;
        if (often >= REPETITIONS - 1)
            path[count++] = word;
    }
    return count;
}

static int begin_game(cutnode_engine *engine, const uint64_t *words)
{
    engine->count = 0;
    ply *now = cutnode_current(engine);
    memset(now, 0, sizeof *now);
    memcpy(now->words, words, sizeof now->words);
    return ask_rules(engine);
}

int cutnode_reset(cutnode_engine *engine)
{
    return begin_game(engine, cutnode_start);
}

/* Add the position after a step, which the rules have just made. */
static int add(cutnode_engine *engine, int64_t step, const uint64_t *words)
{
    const ply *before = cutnode_current(engine);
    engine->count++;
    ply *now = cutnode_current(engine);
    memcpy(now->words, words, sizeof now->words);
    now->step = step;
    now->side = I64(engine->about, AT_ABOUT_AGAIN) ? before->side : 1 - before->side;
    now->run = I64(engine->about, AT_ABOUT_REVERSIBLE) ? before->run + 1 : 0;
    int code = ask_rules(engine);
    if (code != CUTNODE_OK) {
        char kept[MESSAGE];
        memcpy(kept, engine->message, MESSAGE);
        cutnode_undo(engine);
        memcpy(engine->message, kept, MESSAGE);
    }
    return code;
}

int cutnode_play(cutnode_engine *engine, int32_t move)
{
    if (cutnode_ending(engine) != CUTNODE_RUNNING)
        return cutnode_fail_got(engine, CUTNODE_MOVE, "the game is over: no move can be played", move);
    if (I64(engine->about, AT_ABOUT_OUTCOMES) > 0)
        return cutnode_fail_got(engine, CUTNODE_MOVE, "chance decides here: no move can be played", move);
    for (int64_t at = 0; at < engine->move_count; at++)
        if (engine->moves[at] == move) {
            uint64_t words[CUTNODE_WORDS];
            memcpy(words, cutnode_current(engine)->words, sizeof words);
            if (cutnode_make_move(example, words, CUTNODE_WORDS, move, engine->about))
                return cutnode_broken(engine);
            return add(engine, move, words);
        }
    return cutnode_fail_got(engine, CUTNODE_MOVE, "the move must be one of cutnode_moves", move);
}

#if HAS_CHANCE
static int require_outcome(cutnode_engine *engine, int32_t outcome)
{
    int64_t outcomes = I64(engine->about, AT_ABOUT_OUTCOMES);
    if (outcomes <= 0 || cutnode_ending(engine) != CUTNODE_RUNNING)
        return cutnode_fail(engine, CUTNODE_MOVE, "chance does not decide here");
    if (outcome < 0 || outcome >= outcomes)
        return cutnode_fail_got(engine, CUTNODE_MOVE,
                                "the outcome must be 0 or more, and below cutnode_state.outcomes",
                                outcome);
    return CUTNODE_OK;
}
#endif

int cutnode_roll(cutnode_engine *engine, int32_t outcome)
{
#if HAS_CHANCE
    int code = require_outcome(engine, outcome);
    if (code != CUTNODE_OK)
        return code;
    uint64_t words[CUTNODE_WORDS];
    memcpy(words, cutnode_current(engine)->words, sizeof words);
    if (cutnode_meet_outcome(example, words, CUTNODE_WORDS, outcome, engine->about))
        return cutnode_broken(engine);
    return add(engine, outcome, words);
#else
    (void)outcome;
    return cutnode_fail(engine, CUTNODE_MOVE, "the game has no chance");
#endif
}

int cutnode_odds(cutnode_engine *engine, int32_t outcome, double *probability)
{
#if HAS_CHANCE
    int code = require_outcome(engine, outcome);
    if (code != CUTNODE_OK)
        return code;
    uint64_t words[CUTNODE_WORDS];
    char about[ABOUT_SIZE];
    memcpy(words, cutnode_current(engine)->words, sizeof words);
    if (cutnode_meet_outcome(example, words, CUTNODE_WORDS, outcome, about))
        return cutnode_broken(engine);
    *probability = F64(about, AT_ABOUT_PROBABILITY);
    return CUTNODE_OK;
#else
    (void)outcome;
    *probability = 0;
    return cutnode_fail(engine, CUTNODE_MOVE, "the game has no chance");
#endif
}

int cutnode_undo(cutnode_engine *engine)
{
    if (engine->count == 0)
        return cutnode_fail(engine, CUTNODE_MOVE, "there is no move to take back");
    engine->count--;
    return ask_rules(engine);
}

int cutnode_state_of(cutnode_engine *engine, cutnode_state *state)
{
    memset(state, 0, sizeof *state);
    state->ending = cutnode_ending(engine);
    state->side = (int32_t)cutnode_current(engine)->side;
    state->plies = (int32_t)engine->count;
    if (I64(engine->about, AT_ABOUT_OVER))
        state->value = F64(engine->about, AT_ABOUT_VALUE);
    if (state->ending == CUTNODE_RUNNING) {
        state->outcomes = (int32_t)I64(engine->about, AT_ABOUT_OUTCOMES);
        state->moves = (int32_t)engine->move_count;
    }
    return CUTNODE_OK;
}

int cutnode_moves(cutnode_engine *engine, int32_t *moves, int32_t capacity)
{
    if (cutnode_ending(engine) != CUTNODE_RUNNING)
        return 0;
    if (capacity < engine->move_count)
        return cutnode_fail_got(engine, CUTNODE_ARGUMENT,
                                "there must be room for CUTNODE_MOST_MOVES moves", capacity);
    for (int64_t at = 0; at < engine->move_count; at++)
        moves[at] = (int32_t)engine->moves[at];
    return (int)engine->move_count;
}

int cutnode_cells(cutnode_engine *engine, uint8_t *cells, int32_t capacity)
{
#ifdef CUTNODE_CELLS
    int64_t contents[CUTNODE_CELLS];
    if (capacity < CUTNODE_CELLS)
        return cutnode_fail_got(engine, CUTNODE_ARGUMENT,
                                "there must be room for CUTNODE_CELLS cells", capacity);
    if (cutnode_read_cells(example, cutnode_current(engine)->words, CUTNODE_WORDS, contents,
                           CUTNODE_CELLS))
        return cutnode_broken(engine);
    for (int at = 0; at < CUTNODE_CELLS; at++)
        cells[at] = (uint8_t)contents[at];
    return CUTNODE_CELLS;
#else
    (void)cells, (void)capacity;
    return cutnode_fail(engine, CUTNODE_MISSING, "the game declares no board");
#endif
}

/* Texts: the number of moves; for each the move and the places of its texts for both sides. */
const char *cutnode_move_text(int32_t move, int32_t side)
{
    uint32_t low = 0, high = cutnode_texts[0];
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        const uint32_t *found = cutnode_texts + 1 + 3 * middle;
        if (found[0] == (uint32_t)move)
            return (const char *)cutnode_texts + found[side == 1 ? 2 : 1];
        if (found[0] < (uint32_t)move)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

int cutnode_parse_move(cutnode_engine *engine, const char *text)
{
    int32_t side = (int32_t)cutnode_current(engine)->side;
    int64_t count = cutnode_ending(engine) == CUTNODE_RUNNING ? engine->move_count : 0;
    for (int64_t at = 0; text && at < count; at++) {
        const char *known = cutnode_move_text((int32_t)engine->moves[at], side);
        size_t same = 0;
        while (known && known[same] && known[same] == text[same])
            same++;
        if (known && !known[same] && !text[same])
            return (int)engine->moves[at];
    }
    return cutnode_fail(engine, CUTNODE_MOVE, "the text must name a legal move");
}

/* Positions as words */

void cutnode_seal(uint64_t *words)
{
    uint64_t seal = SEAL;
    for (int at = 0; at < CUTNODE_WORDS; at++)
        seal = cutnode_mix(seal ^ words[at]);
    words[CUTNODE_WORDS] = seal;
}

int cutnode_words(cutnode_engine *engine, uint64_t *words, int32_t capacity)
{
    if (capacity < CUTNODE_WORDS + 1)
        return cutnode_fail_got(engine, CUTNODE_ARGUMENT,
                                "there must be room for CUTNODE_WORDS + 1 words", capacity);
    memcpy(words, cutnode_current(engine)->words, 8 * CUTNODE_WORDS);
    cutnode_seal(words);
    return CUTNODE_WORDS + 1;
}

int cutnode_set_words(cutnode_engine *engine, const uint64_t *words, int32_t count)
{
    if (count != CUTNODE_WORDS + 1)
        return cutnode_fail_got(engine, CUTNODE_POSITION, "a position has CUTNODE_WORDS + 1 words",
                                count);
    uint64_t sealed[CUTNODE_WORDS + 1];
    memcpy(sealed, words, 8 * CUTNODE_WORDS);
    cutnode_seal(sealed);
    if (sealed[CUTNODE_WORDS] != words[CUTNODE_WORDS])
        return cutnode_fail(engine, CUTNODE_POSITION,
                            "the words are no position of this game: their seal does not fit");
    int code = begin_game(engine, sealed);
    if (code != CUTNODE_OK)
        cutnode_reset(engine);
    return code;
}

int cutnode_perft(cutnode_engine *engine, int32_t depth, int64_t *count)
{
    if (depth < 0 || depth > CUTNODE_MOST_PLIES)
        return cutnode_fail_got(engine, CUTNODE_ARGUMENT,
                                "the depth must be 0..CUTNODE_MOST_PLIES", depth);
    cutnode_fill(engine->plain, PLAIN_SIZE, cutnode_plain_image);
    *count = 0;
    if (cutnode_perft_node(count, cutnode_current(engine)->words, depth, 0, engine->plain)
        || I64(engine->plain, AT_PLAIN_STOP))
        return cutnode_broken(engine);
    return CUTNODE_OK;
}

/* What all searches share */

int cutnode_begin(cutnode_engine *engine, const cutnode_limits *limits, cutnode_result *result)
{
    memset(result, 0, sizeof *result);
    result->move = -1;
    if (limits->depth < 0 || limits->depth > MOST_DEPTH)
        return cutnode_fail_got(engine, CUTNODE_ARGUMENT, "the depth must be 0..63", limits->depth);
    if (limits->nodes < 0 || limits->playouts < 0)
        return cutnode_fail(engine, CUTNODE_ARGUMENT, "nodes and playouts must be 0 or more");
    if (!(limits->seconds >= 0))
        return cutnode_fail(engine, CUTNODE_ARGUMENT, "the seconds must be 0 or more");
    if (limits->techniques < 0 || limits->techniques > CUTNODE_EXACT)
        return cutnode_fail_got(engine, CUTNODE_ARGUMENT, "the techniques must be 0..2",
                                limits->techniques);
    if (cutnode_ending(engine) != CUTNODE_RUNNING)
        return cutnode_fail(engine, CUTNODE_MOVE, "the game is over: there is nothing to search");
    engine->limits = limits;
    engine->result = result;
    engine->stopping = 0;
    engine->earlier = 0;
    engine->bounds = NULL;
    engine->growing = 0;
    engine->started = engine->reported = cutnode_now();
    return CUTNODE_OK;
}

int cutnode_require_limit(cutnode_engine *engine, int64_t own, const char *text)
{
    const cutnode_limits *limits = engine->limits;
    if (own || limits->nodes || limits->seconds > 0 || engine->progress || IS_WASM)
        return CUTNODE_OK;
    return cutnode_fail(engine, CUTNODE_ARGUMENT, text);
}

/* Let the host look at a kernel's memory from time to time; it stops at a number of nodes. */
void cutnode_watch(cutnode_engine *engine, char *memory, int64_t limit)
{
    watch *watched = watch_of(memory);
    watched->allowed = limit;
    watched->step = FIRST_STEP;
    watched->looked = cutnode_now();
    *watched->stop = engine->stopping ? CALLED : RUNNING;
    int64_t next = *watched->nodes + *watched->more + watched->step;
    *watched->limit = next < watched->allowed ? next : watched->allowed;
}

void cutnode_tell(cutnode_engine *engine, int64_t nodes, double now)
{
    engine->reported = now;
    engine->result->nodes = nodes;
    engine->result->seconds = now - engine->started;
#ifdef __wasm__
    if (!host_progress(engine->result))
        engine->stopping = 1;
#else
    if (engine->progress && !engine->progress(engine->result, engine->user))
        engine->stopping = 1;
#endif
}

/* Called by kernels at the node limit, which is the real one, or the time for the next look. */
void cutnode_host_look(char *memory)
{
    watch *watched = watch_of(memory);
    cutnode_engine *engine = watched->engine;
    int64_t nodes = *watched->nodes + *watched->more;
    double now = cutnode_now();
    double passed = now - watched->looked;
    watched->looked = now;
    if (passed < SHORT_LOOK && watched->step < LONGEST_STEP)
        watched->step *= 2;
    else if (passed > LONG_LOOK && watched->step > SHORTEST_STEP)
        watched->step /= 2;
    if (now - engine->reported >= REPORT_SECONDS) {
        if (engine->bounds) {
            engine->result->lower = (double)I64(engine->bounds, AT_ROW_LOWER);
            engine->result->upper = (double)I64(engine->bounds, AT_ROW_UPPER);
        }
        if (engine->growing)
            cutnode_read_tree(engine);
        cutnode_tell(engine, engine->earlier + nodes, now);
    }
    if (engine->stopping) {
        *watched->stop = CALLED;
    } else if (engine->limits->seconds > 0 && now - engine->started >= engine->limits->seconds) {
        *watched->stop = TIME;
        I64(engine->control, AT_CONTROL_STOP_AT) = 0;
    }
    int64_t next = nodes + watched->step;
    *watched->limit = next < watched->allowed ? next : watched->allowed;
}

int cutnode_end(cutnode_engine *engine, int64_t nodes, int64_t reason)
{
    cutnode_result *result = engine->result;
    result->nodes = nodes;
    result->seconds = cutnode_now() - engine->started;
    result->reason = (int32_t)(result->proven ? RUNNING : reason);
    if (reason == PROBABILITIES || reason == VALUE || reason == MOVES)
        return cutnode_broken(engine);
    return CUTNODE_OK;
}

int cutnode_on_progress(cutnode_engine *engine, cutnode_progress progress, void *user)
{
    engine->progress = progress;
    engine->user = user;
    return CUTNODE_OK;
}

void cutnode_stop(cutnode_engine *engine)
{
    engine->stopping = 1;
}
