/* Monte Carlo tree search: the tree, its growth, and what it says about the root. */
#include "internal.h"

#ifdef HAS_PLAYOUTS
#ifdef __wasm__
double log(double number);
#else
#include <math.h>
#endif

enum { ROOT = 1, NEW = 0, OVER = 2, CHANCE = 3, NOWHERE = 65535 };
enum { FREE, CAPACITY, TOLD };

#define F32(base, at) (*(float *)((char *)(base) + (at)))
#define I32(base, at) (*(int32_t *)((char *)(base) + (at)))
#define I16(base, at) (*(int16_t *)((char *)(base) + (at)))
#define U8(base, at) (*(uint8_t *)((char *)(base) + (at)))

static char *node_of(const cutnode_engine *engine, int64_t node)
{
    return engine->nodes[0] + NODE_SIZE * node;
}

static char *arm_of(const cutnode_engine *engine, int64_t node)
{
    return engine->arms[0] + ARM_SIZE * node;
}

/* Begin a tree with nothing but its root. */
static void plant(cutnode_engine *engine)
{
    char *node = node_of(engine, ROOT), *arm = arm_of(engine, ROOT);
    memset(node, 0, NODE_SIZE);
    memset(arm, 0, ARM_SIZE);
    memset(engine->sums[0] + SUM_SIZE * ROOT, 0, SUM_SIZE);
    U8(node, AT_NODE_SAME) = 1;
    F32(node, AT_NODE_BONUS) = 1;
    I16(node, AT_NODE_LOWER) = -INFINITE;
    I16(node, AT_NODE_UPPER) = INFINITE;
    F32(arm, AT_ARM_MEAN) = 1e30f;
    F32(arm, AT_ARM_EXPLORE) = 1;
    U16(arm, AT_ARM_NEXT) = NOWHERE;
    engine->pool[FREE] = ROOT + 1;
    engine->pool[CAPACITY] = engine->capacity;
    engine->pool[TOLD] = RUNNING;
}

/* Take back the nodes that the search reserved and did not use. */
static void give_back(cutnode_engine *engine)
{
    int64_t start = I64(engine->tree, AT_TREE_NEXT), end = I64(engine->tree, AT_TREE_END);
    for (int64_t node = start; node < end; node++) {
        F32(arm_of(engine, node), AT_ARM_EXPLORE) = 0;
        I32(arm_of(engine, node), AT_ARM_FIRST) = 0;
    }
    if (end == engine->pool[FREE])
        engine->pool[FREE] = start;
    I64(engine->tree, AT_TREE_NEXT) = I64(engine->tree, AT_TREE_END) = 0;
}

/* Drop the least visited parts of a full tree: at least half of its nodes. */
static int make_room(cutnode_engine *engine)
{
    int64_t counts[64] = {0}, least = 0, kept = 0, room = engine->capacity;
    int64_t end = engine->pool[FREE] < room ? engine->pool[FREE] : room;
    if (cutnode_visits_kept(&least, engine->nodes[0], room, engine->arms[0], room, end, room / 2,
                            counts, 64))
        return 0;
    if (cutnode_copy_tree(&kept, engine->nodes[0], room, engine->arms[0], room, engine->sums[0],
                          room, ROOT, least > 2 ? least : 2, 0, engine->nodes[1], room,
                          engine->arms[1], room, engine->sums[1], room))
        return 0;
#define SWAP(parts) do { char *old = parts[0]; parts[0] = parts[1]; parts[1] = old; } while (0)
    SWAP(engine->nodes);
    SWAP(engine->arms);
    SWAP(engine->sums);
#undef SWAP
    engine->pool[FREE] = kept;
    engine->pool[CAPACITY] = room;
    engine->pool[TOLD] = RUNNING;
    return 1;
}

/* A node of the tree, for the player who chooses it */

static int64_t lower_of(const cutnode_engine *engine, int64_t node)
{
    int64_t bound = I16(node_of(engine, node), AT_NODE_LOWER);
    return bound > -LIMIT_ROUNDED ? bound : -LIMIT_ROUNDED;
}

static int64_t upper_of(const cutnode_engine *engine, int64_t node)
{
    int64_t bound = I16(node_of(engine, node), AT_NODE_UPPER);
    return bound < LIMIT_ROUNDED ? bound : LIMIT_ROUNDED;
}

static int is_settled(const cutnode_engine *engine, int64_t node)
{
    int64_t lower = lower_of(engine, node), upper = upper_of(engine, node);
    return lower == upper || (IS_DECISIVE && (lower > 0 || upper < 0));
}

static int64_t visits_of(const cutnode_engine *engine, int64_t node)
{
    return I64(node_of(engine, node), AT_NODE_VISITS);
}

static double worth_of(const cutnode_engine *engine, int64_t node)
{
    double mean = F64(node_of(engine, node), AT_NODE_AVERAGE);
    return mean < -1 ? -1 : mean > 1 ? 1 : mean;
}

static int64_t first_of(const cutnode_engine *engine, int64_t node)
{
    return I32(arm_of(engine, node), AT_ARM_FIRST);
}

static int64_t count_of(const cutnode_engine *engine, int64_t node)
{
    return first_of(engine, node) ? U16(node_of(engine, node), AT_NODE_COUNT) : 0;
}

/* How promising a child is: the numbers to compare, the most important first. */
static void promise(const cutnode_engine *engine, int64_t node, int64_t child, int64_t proven,
                    int done, double *found)
{
    int64_t lower = lower_of(engine, child), upper = upper_of(engine, child);
    int settled = is_settled(engine, child);
    int won = settled && lower > 0 && lower == proven && is_settled(engine, node);
    int best = won || (done && lower == proven);
    int worse = upper < proven || (upper == proven && lower < proven);
    int lost = settled && upper <= -1 && IS_WON_OR_LOST;
    int64_t visits = visits_of(engine, child);
    found[0] = best;
    found[1] = best ? (double)lower : 0;
    found[2] = !worse && !lost;
    found[3] = lost ? (double)upper : 0;
    found[4] = (double)visits;
    found[5] = visits ? worth_of(engine, child) : -2;
}

static int64_t best_child(const cutnode_engine *engine, int64_t node)
{
    int64_t first = first_of(engine, node), count = count_of(engine, node), best = 0;
    int64_t lower = 0, upper = 0;
    for (int64_t at = 0; at < count; at++) {
        int64_t low = lower_of(engine, first + at), high = upper_of(engine, first + at);
        lower = at == 0 || low > lower ? low : lower;
        upper = at == 0 || high > upper ? high : upper;
    }
    int done = is_settled(engine, node) && lower == upper;
    double most[6], found[6];
    for (int64_t at = 0; at < count; at++) {
        promise(engine, node, first + at, lower, done, found);
        int part = 0;
        while (best && part < 6 && found[part] == most[part])
            part++;
        if (!best || (part < 6 && found[part] > most[part])) {
            best = first + at;
            memcpy(most, found, sizeof most);
        }
    }
    return best;
}

/* The value of the root, on the scale of the other searches, if its best child is known. */
static double value_of_root(const cutnode_engine *engine, int64_t best)
{
    int64_t lower = lower_of(engine, ROOT), upper = upper_of(engine, ROOT);
    int64_t from = best && visits_of(engine, best) ? best : ROOT;
    double worth = visits_of(engine, from) ? worth_of(engine, from) : 0;
    if (!IS_DECISIVE)
        return lower == upper ? (double)lower : worth * VALUE_LIMIT;
    if (lower > 0 || upper < 0)
        return lower > 0 ? FAR_WIN : -FAR_WIN;
    if (lower == upper)
        return 0;
    double score = worth >= 1 ? MOST_ESTIMATE : worth <= -1 ? -MOST_ESTIMATE
                 : UNIT * log((1 + worth) / (1 - worth));
    return score > MOST_ESTIMATE ? MOST_ESTIMATE : score < -MOST_ESTIMATE ? -MOST_ESTIMATE : score;
}

static void read_tree(cutnode_engine *engine)
{
    cutnode_result *result = engine->result;
    int64_t node = best_child(engine, ROOT);
    result->playouts = I64(engine->tree, AT_TREE_PLAYOUTS);
    result->lower = (double)lower_of(engine, ROOT);
    result->upper = (double)upper_of(engine, ROOT);
    result->proven = is_settled(engine, ROOT);
    result->length = 0;
    int by_chance = I64(engine->about, AT_ABOUT_OUTCOMES) > 0;
    result->value = value_of_root(engine, by_chance ? 0 : node);
    if (by_chance)
        return;
    if (!node) {
        result->move = (int32_t)engine->moves[0];
        result->line[result->length++] = result->move;
        return;
    }
    while (node && result->length < CUTNODE_MOST_LINE) {
        result->line[result->length++] = U16(arm_of(engine, node), AT_ARM_MOVE);
        if (!count_of(engine, node) || U8(node_of(engine, node), AT_NODE_KIND) == CHANCE)
            break;
        node = best_child(engine, node);
        if (visits_of(engine, node) == 0 && !is_settled(engine, node))
            break;
    }
    result->move = result->line[0];
}
#endif

void cutnode_read_tree(cutnode_engine *engine)
{
#ifdef HAS_PLAYOUTS
    read_tree(engine);
#else
    (void)engine;
#endif
}

int cutnode_playouts(cutnode_engine *engine, const cutnode_limits *limits, cutnode_result *result)
{
#ifdef HAS_PLAYOUTS
    int code = cutnode_begin(engine, limits, result);
    if (code != CUTNODE_OK)
        return code;
    if (engine->capacity < LEAST_TREE)
        return cutnode_fail(engine, CUTNODE_MEMORY,
                            "the tree has no room: create the engine with a larger tree_mib");
    code = cutnode_require_limit(
        engine, limits->playouts,
        "a search needs a limit: playouts, nodes, seconds, or a progress function");
    if (code != CUTNODE_OK)
        return code;
    char *tree = engine->tree;
    cutnode_fill(tree, TREE_SIZE, cutnode_tree_image);
    I64(tree, AT_TREE_PLAYOUT_LIMIT) = limits->playouts ? limits->playouts : UNLIMITED;
    U64(tree, AT_TREE_RANDOM) = cutnode_mix(cutnode_mix(limits->seed));
    I64(tree, AT_TREE_BEFORE) = cutnode_before(engine, &U64(tree, AT_TREE_PATH));
    plant(engine);
    cutnode_watch(engine, tree, limits->nodes ? limits->nodes : UNLIMITED);
    engine->growing = 1;
    for (;;) {
        int64_t room = engine->capacity;
        int32_t failed = cutnode_search_tree(cutnode_current(engine)->words, tree,
                                             engine->nodes[0], room, engine->arms[0], room,
                                             engine->sums[0], room, engine->pool, 3);
        if (failed || engine->pool[TOLD] == MOVES)
            return cutnode_broken(engine);
        give_back(engine);
        if (engine->pool[TOLD] != FULL || engine->stopping)
            break;
        if (!make_room(engine))
            return cutnode_broken(engine);
    }
    read_tree(engine);
    int64_t nodes = I64(tree, AT_TREE_NODES) + I64(tree, AT_TREE_ROLLOUT_PLIES);
    return cutnode_end(engine, nodes, I64(tree, AT_TREE_STOP));
#else
    (void)limits, (void)result;
    return cutnode_fail(engine, CUTNODE_MISSING,
                        "playouts were not exported: see cutnode export --mcts");
#endif
}
