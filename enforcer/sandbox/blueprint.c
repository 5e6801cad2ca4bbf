/* SPDX-License-Identifier: Apache-2.0 */
/* Encodes and decodes the message from which wardfs-init makes a sandbox. */
#include "enforcer/sandbox/blueprint.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/ipc/msg.h"
#include "enforcer/sandbox/sandbox.h"

bool ward_blueprint_path_ok(const char *path)
{
	if (!path || path[0] != '/' || path[1] == '\0')
		return false;
	const char *p = path;
	while (*p == '/') {
		p++;
		size_t len = strcspn(p, "/");
		if (len == 0 || len > 255 || (len == 1 && p[0] == '.') ||
			(len == 2 && p[0] == '.' && p[1] == '.'))
			return false;
		p += len;
	}
	return *p == '\0' && (size_t)(p - path) < 4096;
}

bool ward_blueprint_path_below(const char *path, const char *dir)
{
	size_t len = strlen(dir);
	return strncmp(path, dir, len) == 0 && (path[len] == '\0' || path[len] == '/');
}

size_t ward_sandbox_engine_fds(size_t n_lifelines, bool replay, bool pty)
{
	return WARD_INIT_FD_LIFELINES - WARD_INIT_FD_CONTROL + n_lifelines + replay + pty + 1;
}

static void put_strings(struct ward_msg *m, char *const *v, size_t n)
{
	ward_msg_put_u32(m, (uint32_t)n);
	for (size_t i = 0; i < n; i++)
		ward_msg_put_str(m, v[i]);
}

static void put_entries(struct ward_msg *m, const struct ward_blueprint *p)
{
	ward_msg_put_u32(m, (uint32_t)p->n_entries);
	for (size_t i = 0; i < p->n_entries; i++) {
		const struct ward_blueprint_entry *e = &p->entries[i];
		ward_msg_put_u32(m, e->kind);
		ward_msg_put_u32(m, e->flags);
		ward_msg_put_u32(m, e->mode);
		ward_msg_put_u64(m, e->dev);
		ward_msg_put_u64(m, e->ino);
		ward_msg_put_str(m, e->path);
		ward_msg_put_str(m, e->text);
	}
}

int ward_blueprint_encode(const struct ward_blueprint *p, struct ward_buf *ret_bytes)
{
	ward_cleanup(ward_msg_clear) struct ward_msg m;
	ward_msg_init(&m, WARD_INIT_BLUEPRINT);
	ward_msg_put_u32(&m, p->flags);
	ward_msg_put_u32(&m, p->layers);
	ward_msg_put_u32(&m, p->owner_uid);
	ward_msg_put_u32(&m, p->owner_gid);
	ward_msg_put_u32(&m, p->agent_uid);
	ward_msg_put_u32(&m, p->agent_gid);
	ward_msg_put_u32(&m, (uint32_t)p->n_groups);
	for (size_t i = 0; i < p->n_groups; i++)
		ward_msg_put_u32(&m, p->groups[i]);
	ward_msg_put_str(&m, p->hostname);
	ward_msg_put_u64(&m, p->tmp_bytes);
	ward_msg_put_u64(&m, p->processes);
	ward_msg_put_u64(&m, p->open_files);
	ward_msg_put_u64(&m, p->file_size);
	ward_msg_put_u64(&m, p->core_bytes);
	ward_msg_put_u64(&m, p->data_bytes);
	ward_msg_put_u64(&m, p->cpu_seconds);
	ward_msg_put_u32(&m, p->rows);
	ward_msg_put_u32(&m, p->cols);
	ward_msg_put_u32(&m, p->tty_slots);
	ward_msg_put_u32(&m, p->n_lifelines);
	ward_msg_put_u32(&m, p->n_tasks);
	ward_msg_put_u32(&m, p->n_trees);
	put_entries(&m, p);
	put_strings(&m, p->programs, p->n_programs);
	put_strings(&m, p->argv, p->n_argv);
	put_strings(&m, p->envp, p->n_envp);
	put_strings(&m, p->engine, p->n_engine);
	put_strings(&m, p->engine_exec, p->n_engine_exec);
	ward_msg_put_str(&m, p->cwd);
	ward_msg_put_str(&m, p->probe_outside);
	ward_msg_put_str(&m, p->probe_socket);
	ward_msg_put_str(&m, p->probe_hidden);
	ward_msg_put_str(&m, p->probe_write);
	ward_msg_put_bytes(&m, p->filter, p->filter_len);
	ward_msg_put_bytes(&m, p->init_filter, p->init_filter_len);
	ward_msg_put_bytes(&m, p->exec_filter, p->exec_filter_len);
	ward_msg_put_bytes(&m, p->replay_filter, p->replay_filter_len);
	int r = ward_buf_error(&m.buf);
	if (r < 0)
		return r;
	if (m.buf.len > WARD_BLUEPRINT_BYTES_MAX)
		return -E2BIG;
	ward_buf_add(ret_bytes, m.buf.data, m.buf.len);
	return ward_buf_error(ret_bytes);
}

/* A count that cannot stand for more members than the bytes left could hold. */
static size_t get_count(struct ward_msg_reader *r, size_t max, size_t member)
{
	size_t n = ward_msg_get_u32(r);
	if (n > max || n > r->left / member) {
		r->bad = true;
		return 0;
	}
	return n;
}

static char **get_strings(struct ward_msg_reader *r, size_t *ret_n)
{
	size_t n = get_count(r, WARD_BLUEPRINT_STRINGS_MAX, sizeof(uint32_t));
	char **v = calloc(n + 1, sizeof(*v));
	if (!v) {
		r->bad = true;
		n = 0;
	}
	for (size_t i = 0; i < n && !r->bad; i++)
		v[i] = ward_msg_get_str(r);
	*ret_n = n;
	return v;
}

static void get_groups(struct ward_msg_reader *r, struct ward_blueprint *p)
{
	size_t n = get_count(r, WARD_BLUEPRINT_GROUPS_MAX, sizeof(uint32_t));
	p->groups = calloc(n + 1, sizeof(*p->groups));
	if (!p->groups) {
		r->bad = true;
		return;
	}
	for (size_t i = 0; i < n; i++)
		p->groups[i] = ward_msg_get_u32(r);
	p->n_groups = n;
}

static void get_entries(struct ward_msg_reader *r, struct ward_blueprint *p)
{
	size_t n = get_count(r, WARD_BLUEPRINT_ENTRIES_MAX, 9 * sizeof(uint32_t));
	p->entries = calloc(n + 1, sizeof(*p->entries));
	if (!p->entries) {
		r->bad = true;
		return;
	}
	p->n_entries = n;
	for (size_t i = 0; i < n && !r->bad; i++) {
		struct ward_blueprint_entry *e = &p->entries[i];
		uint32_t kind = ward_msg_get_u32(r);
		e->flags = ward_msg_get_u32(r);
		e->mode = ward_msg_get_u32(r);
		e->dev = ward_msg_get_u64(r);
		e->ino = ward_msg_get_u64(r);
		e->path = ward_msg_get_str(r);
		e->text = ward_msg_get_str(r);
		bool tree = kind >= WARD_BLUEPRINT_TREE && kind < WARD_BLUEPRINT_KINDS_;
		bool file = kind == WARD_BLUEPRINT_TREE_FILE;
		if (kind == WARD_BLUEPRINT_NONE || kind >= WARD_BLUEPRINT_KINDS_ || !e->path ||
			!ward_blueprint_path_ok(e->path) ||
			e->flags & ~WARD_BLUEPRINT_ENTRY_FLAGS_ALL ||
			(tree ? e->mode >= WARD_TREES_MAX : e->mode > 07777) ||
			(file && (!e->text || !ward_blueprint_path_ok(e->text))))
			r->bad = true;
		else
			e->kind = (enum ward_blueprint_kind)kind;
	}
}

static void get_head(struct ward_msg_reader *r, struct ward_blueprint *p)
{
	p->flags = ward_msg_get_u32(r);
	p->layers = ward_msg_get_u32(r);
	p->owner_uid = ward_msg_get_u32(r);
	p->owner_gid = ward_msg_get_u32(r);
	p->agent_uid = ward_msg_get_u32(r);
	p->agent_gid = ward_msg_get_u32(r);
	get_groups(r, p);
	p->hostname = ward_msg_get_str(r);
	p->tmp_bytes = ward_msg_get_u64(r);
	p->processes = ward_msg_get_u64(r);
	p->open_files = ward_msg_get_u64(r);
	p->file_size = ward_msg_get_u64(r);
	p->core_bytes = ward_msg_get_u64(r);
	p->data_bytes = ward_msg_get_u64(r);
	p->cpu_seconds = ward_msg_get_u64(r);
	p->rows = ward_msg_get_u32(r);
	p->cols = ward_msg_get_u32(r);
	p->tty_slots = ward_msg_get_u32(r);
	p->n_lifelines = ward_msg_get_u32(r);
	p->n_tasks = ward_msg_get_u32(r);
	p->n_trees = ward_msg_get_u32(r);
	/* uid 0 is refused here too: the last look before it would matter. */
	if (p->flags & ~WARD_BLUEPRINT_FLAGS_ALL || p->layers & ~WARD_LAYERS_ALL ||
		p->agent_uid == 0 || p->agent_uid == UINT32_MAX || p->tty_slots > 7 ||
		p->rows > UINT16_MAX || p->cols > UINT16_MAX ||
		p->n_lifelines > WARD_BLUEPRINT_LIFELINES_MAX ||
		p->n_tasks > WARD_BLUEPRINT_TASKS_MAX || p->n_trees > WARD_TREES_MAX)
		r->bad = true;
}

static bool absolute_or_empty(const char *s)
{
	return s[0] == '\0' || s[0] == '/';
}

int ward_blueprint_decode(const void *data, size_t len, struct ward_blueprint *ret)
{
	const uint32_t engine_only = WARD_BLUEPRINT_FOREIGN | WARD_BLUEPRINT_CALLS;
	const uint32_t zero = WARD_BLUEPRINT_USER_ZERO | WARD_BLUEPRINT_ALL_ZERO;
	struct ward_blueprint p = {0};
	struct ward_msg_reader r;
	ward_msg_reader_init(&r, data, len);
	if (r.type != WARD_INIT_BLUEPRINT)
		return -EBADMSG;
	get_head(&r, &p);
	get_entries(&r, &p);
	p.programs = get_strings(&r, &p.n_programs);
	for (size_t i = 0; i < p.n_programs && !r.bad; i++)
		r.bad = !ward_blueprint_path_ok(p.programs[i]);
	p.argv = get_strings(&r, &p.n_argv);
	p.envp = get_strings(&r, &p.n_envp);
	p.engine = get_strings(&r, &p.n_engine);
	p.engine_exec = get_strings(&r, &p.n_engine_exec);
	p.cwd = ward_msg_get_str(&r);
	p.probe_outside = ward_msg_get_str(&r);
	p.probe_socket = ward_msg_get_str(&r);
	p.probe_hidden = ward_msg_get_str(&r);
	p.probe_write = ward_msg_get_str(&r);
	p.filter = ward_msg_get_bytes(&r, &p.filter_len);
	p.init_filter = ward_msg_get_bytes(&r, &p.init_filter_len);
	p.exec_filter = ward_msg_get_bytes(&r, &p.exec_filter_len);
	p.replay_filter = ward_msg_get_bytes(&r, &p.replay_filter_len);
	if (ward_msg_done(&r) < 0 || p.n_argv == 0 || p.argv[0][0] == '\0' ||
		!(strcmp(p.cwd, "/") == 0 || ward_blueprint_path_ok(p.cwd)) ||
		!absolute_or_empty(p.probe_outside) || !absolute_or_empty(p.probe_hidden) ||
		!absolute_or_empty(p.probe_write) || p.filter_len % 8 || p.init_filter_len % 8 ||
		p.exec_filter_len % 8 || p.filter_len > WARD_BLUEPRINT_FILTER_MAX ||
		p.init_filter_len > WARD_BLUEPRINT_FILTER_MAX ||
		p.exec_filter_len > WARD_BLUEPRINT_FILTER_MAX || p.replay_filter_len % 8 ||
		p.replay_filter_len > WARD_BLUEPRINT_FILTER_MAX ||
		!p.replay_filter_len != !(p.flags & WARD_BLUEPRINT_REPLAY) ||
		!p.n_engine != !(p.flags & WARD_BLUEPRINT_ENGINE) ||
		!p.n_engine_exec != !(p.flags & WARD_BLUEPRINT_FOREIGN) ||
		(p.flags & engine_only && !(p.flags & WARD_BLUEPRINT_ENGINE)) ||
		(p.flags & zero && !(p.flags & WARD_BLUEPRINT_CALLS))) {
		ward_blueprint_clear(&p);
		return -EBADMSG;
	}
	*ret = p;
	return 0;
}

static void free_strings(char **v, size_t n)
{
	for (size_t i = 0; v && i < n; i++)
		free(v[i]);
	free(v);
}

void ward_blueprint_clear(struct ward_blueprint *p)
{
	for (size_t i = 0; p->entries && i < p->n_entries; i++) {
		free(p->entries[i].path);
		free(p->entries[i].text);
	}
	free(p->entries);
	free_strings(p->programs, p->n_programs);
	free_strings(p->argv, p->n_argv);
	free_strings(p->envp, p->n_envp);
	free_strings(p->engine, p->n_engine);
	free_strings(p->engine_exec, p->n_engine_exec);
	free(p->groups);
	free(p->hostname);
	free(p->cwd);
	free(p->probe_outside);
	free(p->probe_socket);
	free(p->probe_hidden);
	free(p->probe_write);
	*p = (struct ward_blueprint){0};
}

int ward_blueprint_exec_encode(const struct ward_blueprint_exec *e, struct ward_buf *ret_bytes)
{
	ward_cleanup(ward_msg_clear) struct ward_msg m;
	ward_msg_init(&m, WARD_INIT_EXEC);
	ward_msg_put_u32(&m, e->pty);
	ward_msg_put_u32(&m, e->rows);
	ward_msg_put_u32(&m, e->cols);
	put_strings(&m, e->argv, e->n_argv);
	put_strings(&m, e->envp, e->n_envp);
	ward_msg_put_str(&m, e->cwd);
	if (ward_buf_error(&m.buf))
		return ward_buf_error(&m.buf);
	ward_buf_add(ret_bytes, m.buf.data, m.buf.len);
	return ward_buf_error(ret_bytes);
}

static void exec_clear(struct ward_blueprint_exec *e)
{
	free_strings(e->argv, e->n_argv);
	free_strings(e->envp, e->n_envp);
	free(e->cwd);
	*e = (struct ward_blueprint_exec){0};
}

int ward_blueprint_exec_decode(const void *data, size_t len, struct ward_blueprint_exec *ret)
{
	struct ward_blueprint_exec e = {0};
	struct ward_msg_reader r;
	ward_msg_reader_init(&r, data, len);
	if (r.type != WARD_INIT_EXEC)
		return -EBADMSG;
	e.pty = ward_msg_get_u32(&r);
	e.rows = ward_msg_get_u32(&r);
	e.cols = ward_msg_get_u32(&r);
	e.argv = get_strings(&r, &e.n_argv);
	e.envp = get_strings(&r, &e.n_envp);
	e.cwd = ward_msg_get_str(&r);
	if (ward_msg_done(&r) < 0 || e.pty > 7 || e.rows > UINT16_MAX || e.cols > UINT16_MAX ||
		e.n_argv == 0 || !e.argv[0] || e.argv[0][0] == '\0' || e.cwd[0] != '/') {
		exec_clear(&e);
		return -EBADMSG;
	}
	*ret = e;
	return 0;
}
