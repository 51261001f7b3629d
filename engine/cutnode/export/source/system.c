/* The system that an engine needs: time, and in WebAssembly also memory. */
#include "internal.h"

#ifdef __wasm__

#define PAGE 65536
#define EXPORTED(name) __attribute__((export_name(#name)))

extern char __heap_base;
static uintptr_t heap;

double cutnode_now(void)
{
    return host_now();
}

/* Memory is never given back: the module is thrown away with its engine. */
void *calloc(size_t count, size_t size)
{
    uintptr_t start = heap ? heap : (uintptr_t)&__heap_base;
    start = (start + LINE - 1) / LINE * LINE;
    uint64_t end = (uint64_t)start + (uint64_t)count * size;
    uint64_t have = (uint64_t)__builtin_wasm_memory_size(0) * PAGE;
    if (end > UINT64_C(0xFFFF0000))
        return NULL;
    if (end > have && __builtin_wasm_memory_grow(0, (size_t)((end - have + PAGE - 1) / PAGE)) == (size_t)-1)
        return NULL;
    heap = (uintptr_t)end;
    return (void *)start;
}

void free(void *block)
{
    (void)block;
}

EXPORTED(cutnode_alloc) void *cutnode_alloc(size_t size)
{
    return calloc(1, size);
}

void *memset(void *to, int byte, size_t count)
{
    return __builtin_memset(to, byte, count);
}

void *memcpy(void *to, const void *from, size_t count)
{
    return __builtin_memcpy(to, from, count);
}

void *memmove(void *to, const void *from, size_t count)
{
    return __builtin_memmove(to, from, count);
}

#elif defined _WIN32

#include <windows.h>

double cutnode_now(void)
{
    LARGE_INTEGER now, rate;
    QueryPerformanceCounter(&now);
    QueryPerformanceFrequency(&rate);
    return (double)now.QuadPart / (double)rate.QuadPart;
}

#else

#include <time.h>

double cutnode_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
