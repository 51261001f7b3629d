/* Shared by the files of the engine: its memory, and the kernels that it calls. */
#ifndef CUTNODE_INTERNAL_H
#define CUTNODE_INTERNAL_H

#include <stdint.h>

#include "layout.h"

#include "engine.h"

#include <stddef.h>

#ifdef __wasm__
void *memset(void *to, int byte, size_t count);
void *memcpy(void *to, const void *from, size_t count);
#else
#include <string.h>
#endif

#define LINE 64
#define MESSAGE 160
#define WATCH_ROOM (2 * LINE)

#ifdef __wasm__
#define IS_WASM 1
#else
#define IS_WASM 0
#endif

/* The most plies that a proof goes down, at up to 2 kB of stack each. */
#define LONGEST_PROOF 3000

/* The pace of looks at the clock: steps in nodes, times in seconds. */
#define FIRST_STEP 1024
#define SHORTEST_STEP 16
#define LONGEST_STEP (INT64_C(1) << 24)
#define SHORT_LOOK 0.001
#define LONG_LOOK 0.004
#define REPORT_SECONDS 0.02

/* Fields of a record of a kernel. */
#define I64(base, at) (*(int64_t *)((char *)(base) + (at)))
#define U64(base, at) (*(uint64_t *)((char *)(base) + (at)))
#define F64(base, at) (*(double *)((char *)(base) + (at)))
#define U16(base, at) (*(uint16_t *)((char *)(base) + (at)))

/* Reasons of the kernels to stop. */
enum { RUNNING, CALLED, NODES, TIME, PLIES, PROBABILITIES, VALUE, MOVES, FULL, PLAYOUTS };

/* In front of the memory of a kernel that calls its host. */
typedef struct watch {
    cutnode_engine *engine;
    int64_t *stop, *limit, *nodes, *more; /* of the memory; nodes in all are *nodes + *more */
    int64_t allowed;                      /* the real node limit */
    int64_t step;                         /* nodes until the next look */
    double looked;                        /* the time of the last look, in seconds */
} watch;

/* A position of the game in progress, and the step that led to it. */
typedef struct ply {
    int64_t step;
    int64_t side;
    int64_t run;                          /* reversible moves in a row that led here */
    uint64_t recurrence;
    uint64_t words[CUTNODE_WORDS];
} ply;

struct cutnode_engine {
    char message[MESSAGE];
    void *block;              /* all memory of the engine, as it was reserved */
    uintptr_t end;            /* of the parts of it that are laid out */
    ply *plies;
    int64_t count;            /* of steps */
    char *about;              /* what the rules say about the current position */
    int64_t *moves;           /* its legal moves */
    int64_t move_count;
    int64_t *replies;         /* room for another list of moves */
    uintptr_t kept;           /* what the evaluation keeps for each ply */
    char *search, *solver, *mate, *tree, *plain; /* memories of the kernels */
    char *rows, *control;     /* results of a search, and its control */
    int32_t techniques;       /* those that the memory of the search is set up for */
    uint64_t *table;
    int64_t table_words;
    char *nodes[2], *arms[2], *sums[2]; /* of the tree, and of the space to copy it to */
    int64_t pool[3];
    int64_t capacity;         /* of the tree, in nodes */
    const cutnode_limits *limits;
    cutnode_result *result;   /* of the running search */
    volatile int32_t stopping;
    int64_t earlier;          /* nodes of the earlier parts of a search */
    char *bounds;             /* the row of the running proof */
    int32_t growing;          /* whether playouts are running */
    double started, reported; /* in seconds */
    cutnode_progress progress;
    void *user;
};

/* Set the message of an engine, and return the code. */
int cutnode_fail(cutnode_engine *engine, int code, const char *text);
int cutnode_fail_got(cutnode_engine *engine, int code, const char *text, int64_t got);
int cutnode_broken(cutnode_engine *engine);

/* The time in seconds, from any moment on. */
double cutnode_now(void);

/* Begin a search: check its limits, and clear the result. */
int cutnode_begin(cutnode_engine *engine, const cutnode_limits *limits, cutnode_result *result);

/* Prepare a memory for a kernel that stops at a node limit, and earlier for the other limits. */
void cutnode_watch(cutnode_engine *engine, char *memory, int64_t limit);

/* Set what the result says about the whole search, and return CUTNODE_OK or an error. */
int cutnode_end(cutnode_engine *engine, int64_t nodes, int64_t reason);

/* Fail unless something limits a search: a limit of its own, nodes, seconds, or the host. */
int cutnode_require_limit(cutnode_engine *engine, int64_t own, const char *text);

void cutnode_tell(cutnode_engine *engine, int64_t nodes, double now);
void cutnode_read_tree(cutnode_engine *engine);
int cutnode_ending(const cutnode_engine *engine);
int64_t cutnode_before(cutnode_engine *engine, uint64_t *path);

/* Clear a memory, and fill it from its image. */
void cutnode_fill(char *memory, size_t size, const uint64_t *image);

static inline ply *cutnode_current(cutnode_engine *engine)
{
    return &engine->plies[engine->count];
}

#ifdef __wasm__
void *calloc(size_t count, size_t size);
void free(void *block);
__attribute__((import_module("host"), import_name("now"))) double host_now(void);
__attribute__((import_module("host"), import_name("progress"))) int host_progress(const cutnode_result *result);
#endif

#define MIX_A UINT64_C(0xBF58476D1CE4E5B9)
#define MIX_B UINT64_C(0x94D049BB133111EB)
static inline uint64_t cutnode_mix(uint64_t word)
{
    word = (word ^ (word >> 30)) * MIX_A;
    word = (word ^ (word >> 27)) * MIX_B;
    return word ^ (word >> 31);
}

/* The kernels: each returns 0, or another number if the rules failed. */
int32_t cutnode_describe(const uint64_t *example, uint64_t *words, int64_t count,
                         char *about);
int32_t cutnode_list_moves(int64_t *found, const uint64_t *example, uint64_t *words, int64_t count,
                           int64_t *moves, int64_t room);
int32_t cutnode_make_move(const uint64_t *example, uint64_t *words, int64_t count,
                          int64_t move, char *about);
int32_t cutnode_meet_outcome(const uint64_t *example, uint64_t *words, int64_t count,
                             int64_t index, char *about);
int32_t cutnode_read_cells(const uint64_t *example, uint64_t *words, int64_t count,
                           int64_t *cells, int64_t cell_count);
int32_t cutnode_perft_node(int64_t *lines, const uint64_t *position, int64_t depth, int64_t top,
                           char *plain);
int32_t cutnode_scout_depth(int64_t *depth, const uint64_t *position);
int32_t cutnode_search_batch(const uint64_t *example, uint64_t *words, int64_t count,
                             char *rows, int64_t row_count, char *control, char *search,
                             uint64_t *table, int64_t table_words);
int32_t cutnode_solve_batch(const uint64_t *example, uint64_t *words, int64_t count,
                            char *rows, int64_t row_count, int64_t weak, int64_t line,
                            int64_t cold, int64_t sharing, char *solver, uint64_t *table,
                            int64_t table_words);
int32_t cutnode_mating_root(int8_t *won, const uint64_t *position, int64_t left, int64_t attacking,
                            int64_t ply, int64_t first, char *mate, uint64_t *table,
                            int64_t table_words);
int32_t cutnode_search_tree(const uint64_t *position, char *tree, char *nodes,
                            int64_t node_count, char *arms, int64_t arm_count, char *sums,
                            int64_t sum_count, int64_t *pool, int64_t pool_count);
int32_t cutnode_copy_tree(int64_t *kept, char *nodes, int64_t node_count, char *arms,
                          int64_t arm_count, char *sums, int64_t sum_count, int64_t root,
                          int64_t least, int64_t forget, char *new_nodes, int64_t new_node_count,
                          char *new_arms, int64_t new_arm_count, char *new_sums,
                          int64_t new_sum_count);
int32_t cutnode_visits_kept(int64_t *least, char *nodes, int64_t node_count, char *arms,
                            int64_t arm_count, int64_t end, int64_t most, int64_t *counts,
                            int64_t count);

/* Data: images of memories, texts, and the first position. */
extern const uint64_t cutnode_start[], cutnode_search_image[], cutnode_full_width_image[];
extern const uint64_t cutnode_exact_image[], cutnode_solver_image[], cutnode_mate_image[];
extern const uint64_t cutnode_tree_image[], cutnode_plain_image[];
extern const uint32_t cutnode_texts[];
extern const char cutnode_about_text[];
extern uint64_t cutnode_weights[];
extern const uint64_t cutnode_places[];

#endif
