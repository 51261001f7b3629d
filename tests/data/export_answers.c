/* Read games, a line of steps for each, and print what an exported engine answers at their ends. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "GAME.h"

static void print(const char *name, int code, const cutnode_result *result)
{
    printf(" %s %d %.12g %.12g %.12g %lld %d %d", name, code, result->value, result->lower,
           result->upper, (long long)result->nodes, result->move, result->depth);
}

int main(void)
{
    static char line[1 << 16];
    cutnode_engine *engine = cutnode_create(16, 16);
    while (engine && fgets(line, sizeof line, stdin)) {
        cutnode_reset(engine);
        cutnode_forget(engine);
        for (char *step = strtok(line, " \n"); step; step = strtok(NULL, " \n")) {
            int code = *step == 'r' ? cutnode_roll(engine, atoi(step + 1))
                                    : cutnode_play(engine, atoi(step));
            if (code != CUTNODE_OK)
                return 1;
        }
        static cutnode_result result;
        cutnode_limits search = {.depth = 3, .nodes = 3000}, win = {.depth = 2, .nodes = 3000};
        cutnode_limits proof = {.nodes = 3000}, playouts = {.playouts = 60, .seed = 5};
        print("search", cutnode_search(engine, &search, &result), &result);
        print("solve", cutnode_solve(engine, &proof, &result), &result);
        print("mate", cutnode_mate(engine, &win, &result), &result);
        print("playouts", cutnode_playouts(engine, &playouts, &result), &result);
        puts("");
    }
    cutnode_free(engine);
    return 0;
}
