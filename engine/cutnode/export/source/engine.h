/* GAME: its rules and its engine, exported by cutnode.
 *
 * An engine holds a game in progress, and searches its position.  One thread at a time may use an
 * engine, except for cutnode_stop, which any thread may call.  Engines are independent: use as many
 * as you have threads.  All functions that return an int return CUTNODE_OK, or an error below; then
 * cutnode_message says what was wrong.
 */
#ifndef CUTNODE_H
#define CUTNODE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32) && defined(CUTNODE_SHARED)
#define CUTNODE_API __declspec(dllimport)
#elif defined(__GNUC__) && !defined(_WIN32)
#define CUTNODE_API __attribute__((visibility("default")))
#else
#define CUTNODE_API
#endif

typedef struct cutnode_engine cutnode_engine;

enum {
    CUTNODE_OK = 0,
    CUTNODE_MEMORY = -1,     /* there is not enough memory */
    CUTNODE_ARGUMENT = -2,   /* an argument is out of its range */
    CUTNODE_POSITION = -3,   /* the words are no position */
    CUTNODE_MOVE = -4,       /* the move is illegal here, or the game is over */
    CUTNODE_MISSING = -5,    /* the export does not contain this */
    CUTNODE_RULES = -6       /* the rules of the game broke their contract */
};

/* Why a search ended. */
enum {
    CUTNODE_COMPLETE = 0,    /* it reached its depth, or the value is proven */
    CUTNODE_STOPPED = 1,     /* by cutnode_stop, or by the progress function */
    CUTNODE_NODES = 2,
    CUTNODE_TIME = 3,
    CUTNODE_PLIES = 4,       /* of cutnode_solve: a line of play became too long for a proof */
    CUTNODE_PLAYOUTS = 9
};

/* How a game ended. */
enum {
    CUTNODE_RUNNING = 0,
    CUTNODE_BY_RULES = 1,
    CUTNODE_BY_REPETITION = 2,
    CUTNODE_BY_LENGTH = 3    /* the longest game that the rules allow */
};

/* The techniques of a search. */
enum {
    CUTNODE_ALL_TECHNIQUES = 0,
    CUTNODE_FULL_WIDTH = 1,  /* none that looks less deep at some moves: for shallow searches */
    CUTNODE_EXACT = 2        /* none that changes a score: the score is minimax at that depth */
};

/* Limits of a search; 0 stands for no limit. */
typedef struct cutnode_limits {
    int32_t depth;           /* in plies; of cutnode_mate, the number of own moves */
    int32_t techniques;
    int64_t nodes;
    int64_t playouts;        /* of cutnode_playouts */
    double seconds;
    uint64_t seed;           /* of cutnode_playouts */
} cutnode_limits;

typedef struct cutnode_result {
    double value;            /* for the player to move */
    double lower, upper;     /* proven bounds of the value, of cutnode_solve and cutnode_playouts */
    double seconds;
    int64_t nodes;
    int64_t playouts;
    int32_t move;            /* -1: none */
    int32_t depth;           /* of cutnode_mate, the moves to the win; 0: none within the limit */
    int32_t proven;
    int32_t reason;
    int32_t length;          /* of the line of best play */
    int32_t line[CUTNODE_MOST_LINE];
} cutnode_result;

/* The current position, by the rules. */
typedef struct cutnode_state {
    double value;            /* of a finished game, for the player to move */
    int32_t ending;          /* CUTNODE_RUNNING, or how the game ended */
    int32_t side;            /* to move: 0 is the player who moves first */
    int32_t outcomes;        /* of chance, which decides next; 0: a player moves */
    int32_t plies;           /* moves played, and outcomes of chance */
    int32_t moves;           /* the number of legal moves */
} cutnode_state;

/* Called now and then by a running search, with its result so far; return 0 to stop it.  It may ask
 * about the position, but must not change it, nor begin another search. */
typedef int (*cutnode_progress)(const cutnode_result *result, void *user);

/* Return a new engine at the first position; NULL without memory, or if a size is out of range.
 * table_mib is the size of the transposition table, 1..65536; tree_mib the size of the tree of
 * cutnode_playouts, 0 if it is not used. */
CUTNODE_API cutnode_engine *cutnode_create(int64_t table_mib, int64_t tree_mib);
CUTNODE_API void cutnode_free(cutnode_engine *engine);

/* What was wrong with the last call that failed; "" if none did. */
CUTNODE_API const char *cutnode_message(const cutnode_engine *engine);

/* A JSON text about the game: its name, board, moves, and what was exported. */
CUTNODE_API const char *cutnode_about(void);

/* The game. */
CUTNODE_API int cutnode_reset(cutnode_engine *engine);
CUTNODE_API int cutnode_play(cutnode_engine *engine, int32_t move);
CUTNODE_API int cutnode_roll(cutnode_engine *engine, int32_t outcome);
CUTNODE_API int cutnode_undo(cutnode_engine *engine);
CUTNODE_API int cutnode_state_of(cutnode_engine *engine, cutnode_state *state);

/* Write the legal moves; return their number, or an error. */
CUTNODE_API int cutnode_moves(cutnode_engine *engine, int32_t *moves, int32_t capacity);

/* The probability of an outcome of chance. */
CUTNODE_API int cutnode_odds(cutnode_engine *engine, int32_t outcome, double *probability);

/* Write the content of each cell of the board, a number for each; return their number. */
CUTNODE_API int cutnode_cells(cutnode_engine *engine, uint8_t *cells, int32_t capacity);

/* A move in the notation of the game; NULL if texts are not exported.  side is the mover's. */
CUTNODE_API const char *cutnode_move_text(int32_t move, int32_t side);

/* Read a legal move of the current position; return it, or an error. */
CUTNODE_API int cutnode_parse_move(cutnode_engine *engine, const char *text);

/* Positions as words: CUTNODE_WORDS of the position and a seal, which cutnode_set_words requires,
 * so that no other bytes are taken for a position.  Who packs a position seals it: cutnode_seal
 * writes the last of CUTNODE_WORDS + 1 words.  Setting a position begins a new game there. */
CUTNODE_API int cutnode_words(cutnode_engine *engine, uint64_t *words, int32_t capacity);
CUTNODE_API int cutnode_set_words(cutnode_engine *engine, const uint64_t *words, int32_t count);
CUTNODE_API void cutnode_seal(uint64_t *words);

/* Count the lines of play of a number of moves. */
CUTNODE_API int cutnode_perft(cutnode_engine *engine, int32_t depth, int64_t *count);

/* The searches; at least one limit is needed, except by cutnode_solve.  A proof takes up to 6 MB of
 * stack, in games of long lines. */
CUTNODE_API int cutnode_search(cutnode_engine *engine, const cutnode_limits *limits,
                               cutnode_result *result);
CUTNODE_API int cutnode_solve(cutnode_engine *engine, const cutnode_limits *limits,
                              cutnode_result *result);
CUTNODE_API int cutnode_mate(cutnode_engine *engine, const cutnode_limits *limits,
                             cutnode_result *result);
CUTNODE_API int cutnode_playouts(cutnode_engine *engine, const cutnode_limits *limits,
                                 cutnode_result *result);

/* Forget what searches have stored and learned: the next one behaves like the first. */
CUTNODE_API int cutnode_forget(cutnode_engine *engine);
CUTNODE_API int cutnode_on_progress(cutnode_engine *engine, cutnode_progress progress, void *user);

/* End the running search from any thread; it returns its best so far at once. */
CUTNODE_API void cutnode_stop(cutnode_engine *engine);

#ifdef __cplusplus
}
#endif
#endif
