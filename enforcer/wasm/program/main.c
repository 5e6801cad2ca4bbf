/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wardfs-wasi: runs a WASI program that wasm2c and a compiler made into a shared object. Mode wasm
 * starts it inside the walls of a session. The program's memory and calls are bounded by what
 * wasm2c writes; what it reaches of the system are the functions of enforcer/wasm/host/wasi.def.
 *
 *     wardfs-wasi [--tree DIR]… [--memory BYTES] OBJECT NAME [ARGUMENT…]
 */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "enforcer/base/out.h"
#include "enforcer/wasm/host/options.h"
#include "enforcer/wasm/host/trap.h"
#include "enforcer/wasm/host/wasi.h"
#include "enforcer/wasm/program/module.h"

/* As after abort(3): the program stopped for good. */
#define EXIT_TRAP 134
#define EXIT_SETUP 125

static int complain(const char *what, const char *why)
{
	ward_tellf("wardfs-wasi: %s: %s\n", what, why);
	return EXIT_SETUP;
}

/* A module's own start function runs before m->start() returns, and can grow all of this. */
static uint32_t most_pages;

static uint32_t bounded(uint32_t now, uint32_t most, uint32_t ours)
{
	const uint32_t bound = now > ours ? now : ours;
	return most < bound ? most : bound;
}

void ward_wasm_allocate_memory(wasm_rt_memory_t *m, uint32_t pages, uint32_t most)
{
	wasm_rt_allocate_memory(m, pages, bounded(pages, most, most_pages));
}

void ward_wasm_allocate_funcref_table(wasm_rt_funcref_table_t *t, uint32_t n, uint32_t most)
{
	wasm_rt_allocate_funcref_table(t, n, bounded(n, most, WARD_WASM_TABLE_MAX));
}

void ward_wasm_allocate_externref_table(wasm_rt_externref_table_t *t, uint32_t n, uint32_t most)
{
	wasm_rt_allocate_externref_table(t, n, bounded(n, most, WARD_WASM_TABLE_MAX));
}

int main(int argc, char **argv, char **envp)
{
	static struct ward_wasi wasi;
	struct ward_wasm_options o = {.memory = 0};
	(void)argc;
	char cwd[PATH_MAX];
	int r = ward_wasm_options(&argv, &o);
	if (r == 0 && getcwd(cwd, sizeof(cwd)) && cwd[0] == '/')
		r = ward_preopens_add_cwd(&o.files, cwd);
	if (r < 0 || !argv[0] || !argv[1])
		return complain("options", strerror(r < 0 ? -r : EINVAL));
	wasi.argv = argv + 1;
	wasi.envp = envp;
	ward_wasi_start(&wasi, &o.files);
	most_pages = ward_wasm_pages(o.memory);
	wasm_rt_init();
	void *object = dlopen(argv[0], RTLD_NOW | RTLD_LOCAL);
	const struct ward_wasm_translated *m = object ? dlsym(object, WARD_WASM_SYMBOL) : NULL;
	if (!m)
		return complain("the translated module cannot be loaded", dlerror());
	/* The trap handler jumps back here: what is used after it does not change before. */
	void *instance = calloc(1, m->size);
	if (!instance)
		return complain("instance", strerror(ENOMEM));
	wasi.instance = instance;
	wasi.memory = m->memory;
	wasm_rt_trap_t trap = WARD_WASM_TRY();
	if (trap != WASM_RT_TRAP_NONE) {
		ward_tellf("wardfs-wasi: %s stopped: %s\n", wasi.argv[0], wasm_rt_strerror(trap));
		return EXIT_TRAP;
	}
	m->start(instance, &wasi);
	m->run(instance);
	return 0;
}
