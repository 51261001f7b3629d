/* Alpha-beta search, exact solver and search for forced wins. */
#include "internal.h"

#define NO_MOVE 65535

static const uint64_t example[CUTNODE_WORDS];

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t or_unlimited(int64_t limit)
{
    return limit > 0 && limit < UNLIMITED ? limit : UNLIMITED;
}

int cutnode_forget(cutnode_engine *engine)
{
    engine->table[TABLE_COLD] = 1;
    engine->techniques = -1;
    engine->pool[0] = 0;
    return CUTNODE_OK;
}

/* Search */

#ifdef HAS_SEARCH
static void set_techniques(cutnode_engine *engine, int32_t techniques)
{
    static const uint64_t *const images[] = {
        cutnode_search_image, cutnode_full_width_image, cutnode_exact_image,
    };
    if (engine->techniques == techniques)
        return;
    engine->techniques = techniques;
    cutnode_fill(engine->search, SEARCH_SIZE, images[techniques]);
    I64(engine->search, AT_SEARCH_KEPT) = (int64_t)engine->kept;
}

/* Search the current position to a depth; its row then holds the result. */
static int run_search(cutnode_engine *engine, int32_t techniques, int32_t depth, int64_t nodes)
{
    char *search = engine->search, *control = engine->control;
    set_techniques(engine, techniques);
    int64_t last = depth ? depth : MOST_DEPTH;
    int64_t step = depth ? I64(search, AT_SEARCH_DEEPENING_PARITY) : 1;
    memset(control, 0, CONTROL_SIZE);
    memset(engine->rows, 0, ROWS_SIZE);
    I64(control, AT_CONTROL_DEPTH) = last;
    I64(control, AT_CONTROL_STEP) = step;
    I64(control, AT_CONTROL_FIRST) =
        I64(search, AT_SEARCH_USE_DEEPENING) ? (last - 1) % step + 1 : last;
    I64(control, AT_CONTROL_ASPIRATION) = I64(search, AT_SEARCH_USE_ASPIRATION);
    I64(control, AT_CONTROL_STOP_AT) = -1;
    I64(search, AT_SEARCH_BEFORE) = cutnode_before(engine, &U64(search, AT_SEARCH_PATH));
    I64(search, AT_SEARCH_NODES) = 0;
    cutnode_watch(engine, search, or_unlimited(nodes) - 1);
    if (cutnode_search_batch(example, cutnode_current(engine)->words, CUTNODE_WORDS,
                             engine->rows, 1, control, search, engine->table,
                             engine->table_words))
        return cutnode_broken(engine);
    return CUTNODE_OK;
}

static double found_value(const char *row)
{
    return HAS_CHANCE ? F64(row, AT_FOUND_VALUE) : (double)I64(row, AT_FOUND_VALUE);
}

static void read_found(cutnode_engine *engine)
{
    const char *row = engine->rows;
    cutnode_result *result = engine->result;
    int64_t move = I64(row, AT_FOUND_MOVE);
    result->value = found_value(row);
    result->depth = (int32_t)I64(row, AT_FOUND_DEPTH);
    result->move = move == NO_MOVE ? -1 : (int32_t)move;
    result->proven = row[AT_FOUND_PROVEN];
}

/* Called by the kernel when a depth is complete. */
void cutnode_host_report(char *search)
{
    cutnode_engine *engine = ((watch *)(search - WATCH_ROOM))->engine;
    cutnode_result *result = engine->result;
    if (engine->bounds)
        return;
    read_found(engine);
    result->length = (int32_t)least(I64(search, AT_SEARCH_LENGTH), CUTNODE_MOST_LINE);
    for (int at = 0; at < result->length; at++)
        result->line[at] = U16(search, AT_SEARCH_LINE + 2 * at);
    cutnode_tell(engine, I64(search, AT_SEARCH_NODES), cutnode_now());
    if (engine->stopping)
        I64(search, AT_SEARCH_STOP) = CALLED;
}
#else
void cutnode_host_report(char *search)
{
    (void)search;
}
#endif

int cutnode_search(cutnode_engine *engine, const cutnode_limits *limits, cutnode_result *result)
{
#ifdef HAS_SEARCH
    int code = cutnode_begin(engine, limits, result);
    if (code != CUTNODE_OK)
        return code;
    code = cutnode_require_limit(
        engine, limits->depth,
        "a search needs a limit: a depth, nodes, seconds, or a progress function");
    if (code != CUTNODE_OK)
        return code;
    code = run_search(engine, limits->techniques, limits->depth, limits->nodes);
    if (code != CUTNODE_OK)
        return code;
    read_found(engine);
    if (result->move >= 0 && (!result->length || result->line[0] != result->move)) {
        result->length = 1;
        result->line[0] = result->move;
    }
    return cutnode_end(engine, I64(engine->rows, AT_FOUND_NODES), I64(engine->rows, AT_FOUND_REASON));
#else
    (void)limits, (void)result;
    return cutnode_fail(engine, CUTNODE_MISSING, "the search was not exported: see cutnode export --search");
#endif
}

/* Exact solver */

#ifdef HAS_SOLVE
static int run_solver(cutnode_engine *engine, char *row, int64_t nodes, int64_t with_line)
{
    char *solver = engine->solver;
    I64(solver, AT_SOLVER_NODES) = 0;
    I64(solver, AT_SOLVER_STOP_AT) = -1;
    I64(solver, AT_SOLVER_LINE_LIMIT) = with_line;
    I64(solver, AT_SOLVER_PLIES) = least(CUTNODE_MOST_PLIES, LONGEST_PROOF);
    cutnode_watch(engine, solver, nodes - 1);
    if (cutnode_solve_batch(example, cutnode_current(engine)->words, CUTNODE_WORDS, row, 1, 0,
                            2, 0, 0, solver, engine->table, engine->table_words))
        return cutnode_broken(engine);
    engine->earlier += I64(row, AT_ROW_NODES);
    return CUTNODE_OK;
}

/* Search heuristically before a proof, if the game says so: its score is the first guess. */
static int presearch(cutnode_engine *engine, char *row)
{
    I64(row, AT_ROW_GUESS) = GUESS_NONE;
    I64(engine->solver, AT_SOLVER_SCOUTED) = 0;
#if defined HAS_SCOUT && defined HAS_SEARCH
    int64_t depth = 0, nodes = engine->limits->nodes;
    if (cutnode_scout_depth(&depth, cutnode_current(engine)->words))
        return cutnode_broken(engine);
    if (depth <= 0 || (nodes && nodes < SCOUTING_SHARE))
        return CUTNODE_OK;
    engine->techniques = -1;
    int code = run_search(engine, CUTNODE_ALL_TECHNIQUES, (int32_t)least(depth, MOST_DEPTH),
                          nodes ? least(nodes / SCOUTING_SHARE, SCOUTING_NODES)
                                : SCOUTING_NODES);
    if (code != CUTNODE_OK)
        return code;
    if (I64(engine->rows, AT_FOUND_DEPTH) > 0)
        I64(row, AT_ROW_GUESS) = I64(engine->rows, AT_FOUND_VALUE);
    U64(engine->solver, AT_SOLVER_SCOUTED) = U64(engine->search, AT_SEARCH_PURPOSE);
    engine->earlier += I64(engine->rows, AT_FOUND_NODES);
#endif
    return CUTNODE_OK;
}

static void begin_row(char *row, int64_t lower, int64_t upper)
{
    memset(row, 0, ROW_SIZE);
    I64(row, AT_ROW_LOWER) = lower;
    I64(row, AT_ROW_UPPER) = upper;
    I64(row, AT_ROW_REASON) = CALLED;
}

static int64_t width(const char *row)
{
    return I64(row, AT_ROW_UPPER) - I64(row, AT_ROW_LOWER);
}
#endif

int cutnode_solve(cutnode_engine *engine, const cutnode_limits *limits, cutnode_result *result)
{
#ifdef HAS_SOLVE
    int code = cutnode_begin(engine, limits, result);
    if (code != CUTNODE_OK)
        return code;
    char *row = engine->rows + FOUND_SIZE;
    begin_row(row, -MOST_VALUE, MOST_VALUE);
    engine->bounds = row;
    if ((code = presearch(engine, row)) != CUTNODE_OK)
        return code;
    int64_t guess = I64(row, AT_ROW_GUESS);
    begin_row(row, -MOST_VALUE, MOST_VALUE);
    I64(row, AT_ROW_GUESS) = guess;
    int64_t left = limits->nodes ? limits->nodes - engine->earlier : UNLIMITED;
    left = left < 1 ? 1 : left;
    int64_t with_line = least(left, UNLIMITED / 2) * 2 - 1;
    int64_t first = least(SHORT_NODES, left);
    /* As in Python: a short attempt, and then the rest. */
    if ((code = run_solver(engine, row, first, first)) != CUTNODE_OK)
        return code;
    int64_t reason = I64(row, AT_ROW_REASON);
    if (I64(engine->solver, AT_SOLVER_STOP) != RUNNING && first < left && !engine->stopping) {
        char *second = row + ROW_SIZE;
        int64_t rest = left == UNLIMITED ? UNLIMITED : left - I64(row, AT_ROW_NODES);
        begin_row(second, I64(row, AT_ROW_LOWER), I64(row, AT_ROW_UPPER));
        I64(second, AT_ROW_GUESS) = guess;
        engine->bounds = second;
        if ((code = run_solver(engine, second, rest < 1 ? 1 : rest, with_line)) != CUTNODE_OK)
            return code;
        reason = I64(second, AT_ROW_REASON);
        if (width(second) < width(row) || I64(second, AT_ROW_LENGTH) > I64(row, AT_ROW_LENGTH))
            row = second;
    }
    result->lower = (double)I64(row, AT_ROW_LOWER);
    result->upper = (double)I64(row, AT_ROW_UPPER);
    result->proven = result->lower == result->upper;
    result->value = result->lower;
    result->length = (int32_t)least(I64(row, AT_ROW_LENGTH), CUTNODE_MOST_LINE);
    for (int at = 0; at < result->length; at++)
        result->line[at] = U16(row, AT_ROW_LINE + 2 * at);
    if (result->length > 0)
        result->move = result->line[0];
    if (!result->proven)
        result->length = 0;
    return cutnode_end(engine, engine->earlier, reason);
#else
    (void)limits, (void)result;
    return cutnode_fail(engine, CUTNODE_MISSING, "the solver was not exported: see cutnode export --solve");
#endif
}

/* Forced wins */

#ifdef HAS_MATE
#define ENDED (-1)

typedef struct answer {
    int64_t move, moves;
} answer;

/* Return whether an unfinished position is won within a number of moves; ENDED at a limit. */
static int ask(cutnode_engine *engine, const uint64_t *position, int64_t left, int attacking,
               int64_t ply)
{
    char *mate = engine->mate;
    int64_t limit = or_unlimited(engine->limits->nodes);
    for (int attempt = 0; attempt < 2; attempt++) {
        int64_t nodes = I64(mate, AT_MATE_NODES);
        int8_t won = 0;
        int64_t first = engine->earlier == 0;
        engine->earlier = 1;
        cutnode_watch(engine, mate, (attempt ? limit : least(limit, nodes + SHORT_MATE_NODES)) - 1);
        if (engine->stopping)
            return ENDED;
        if (cutnode_mating_root(&won, position, left, attacking, ply, first, mate, engine->table,
                                engine->table_words))
            return ENDED;
        if (I64(mate, AT_MATE_STOP) == RUNNING)
            return won;
        if (I64(mate, AT_MATE_STOP) != NODES || I64(mate, AT_MATE_NODES) >= limit)
            return ENDED;
    }
    return ENDED;
}

/* Find the quickest win from a position that is won within a number of moves. */
static int distance(cutnode_engine *engine, const uint64_t *position, int64_t most, answer *found)
{
    for (int64_t left = 1; left <= most; left++) {
        int won = ask(engine, position, left, 1, 1);
        if (won == ENDED)
            return 0;
        if (won) {
            found->move = I64(engine->mate, AT_MATE_MOVE);
            found->moves = left;
            return 1;
        }
    }
    return 0;
}

static int after(uint64_t *words, int64_t move, char *about)
{
    return !cutnode_make_move(example, words, CUTNODE_WORDS, move, about)
        && !cutnode_describe(example, words, CUTNODE_WORDS, about);
}

/* Write the quickest win against the longest defence after its first move. */
static int write_line(cutnode_engine *engine, int64_t moves)
{
    cutnode_result *result = engine->result;
    char about[ABOUT_SIZE];
    uint64_t position[CUTNODE_WORDS], child[CUTNODE_WORDS];
    memcpy(position, cutnode_current(engine)->words, sizeof position);
    int64_t move = result->move;
    while (moves > 1 && result->length + 2 <= CUTNODE_MOST_LINE) {
        int64_t *replies = engine->replies, count = 0, longest = NO_MOVE;
        answer best = {NO_MOVE, 0};
        if (!after(position, move, about)
            || cutnode_list_moves(&count, example, position, CUTNODE_WORDS, replies, MOVES_ROOM))
            return 0;
        for (int64_t at = 0; at < count; at++) {
            answer found = {NO_MOVE, 0};
            memcpy(child, position, sizeof child);
            if (!after(child, replies[at], about))
                return 0;
            if (!I64(about, AT_ABOUT_OVER) && !distance(engine, child, moves - 1, &found))
                return 0;
            if (longest == NO_MOVE || found.moves > best.moves) {
                best = found;
                longest = replies[at];
            }
        }
        result->line[result->length++] = (int32_t)longest;
        moves = best.moves;
        move = best.move;
        if (moves) {
            result->line[result->length++] = (int32_t)move;
            if (!after(position, longest, about))
                return 0;
        }
    }
    return 1;
}
#endif

int cutnode_mate(cutnode_engine *engine, const cutnode_limits *limits, cutnode_result *result)
{
#ifdef HAS_MATE
    int code = cutnode_begin(engine, limits, result);
    if (code != CUTNODE_OK)
        return code;
    if (limits->depth < 1 || limits->depth > MOST_WIN)
        return cutnode_fail_got(engine, CUTNODE_ARGUMENT, "the depth must be 1..32 moves",
                                limits->depth);
    char *mate = engine->mate;
    cutnode_fill(mate, MATE_SIZE, cutnode_mate_image);
    int64_t before = cutnode_before(engine, &U64(mate, AT_MATE_PATH));
    I64(mate, AT_MATE_BEFORE) = before;
    for (int64_t at = 0; at < before; at++)
        U64(mate, AT_MATE_PURPOSE) ^= cutnode_mix((&U64(mate, AT_MATE_PATH))[at]);
    int64_t refuted = 0;
    while (refuted < limits->depth) {
        int won = ask(engine, cutnode_current(engine)->words, refuted + 1, 1, 0);
        if (won == ENDED)
            break;
        if (won) {
            result->move = (int32_t)I64(mate, AT_MATE_MOVE);
            result->depth = (int32_t)refuted + 1;
            result->value = 1;
            break;
        }
        refuted++;
    }
    int64_t nodes = I64(mate, AT_MATE_NODES), reason = I64(mate, AT_MATE_STOP);
    result->proven = result->depth > 0 || refuted == limits->depth;
    if (result->depth > 0) {
        result->line[result->length++] = result->move;
        write_line(engine, result->depth);
    }
    return cutnode_end(engine, nodes, reason);
#else
    (void)limits, (void)result;
    return cutnode_fail(engine, CUTNODE_MISSING, "the search for forced wins was not exported: see cutnode export --mate");
#endif
}
