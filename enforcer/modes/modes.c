/* SPDX-License-Identifier: Apache-2.0 */
/* From the functions that the session calls to the operations of the mode's row. */
#include "enforcer/modes/operations.h"

#include <errno.h>
#include <stdlib.h>

/* NULL: none, or no row of the table. */
static const struct ward_mode_ops *operations_of(const struct ward_mode *m)
{
	for (size_t i = 0; ward_modes[i].word && ward_mode_operations[i]; i++)
		if (&ward_modes[i] == m)
			return ward_mode_operations[i];
	return NULL;
}

static bool complete(const struct ward_mode_ops *o)
{
	return o && o->usable && o->prepare && o->begin && o->reach && o->probe && o->start &&
	       o->next && o->exec && o->signal && o->stop && o->free;
}

int ward_mode_usable(const struct ward_mode *m, struct ward_err *err)
{
	const struct ward_mode_ops *ops = operations_of(m);
	int r = ops && ops->usable ? ops->usable(m, err) : 0;
	if (r < 0)
		return r;
	/* What picks another one never begins a run itself. */
	if (m->ready && m->strictness == 0)
		return 0;
	if (!m->ready || !complete(ops))
		return ward_err_set(err, -ENOTSUP, "wardfs has no way to run a command in it");
	return 0;
}

int ward_mode_look(const struct ward_mode *m, const struct ward_mode_host *h,
	struct ward_mode_found *ret, struct ward_buf *ret_text, struct ward_err *err)
{
	const struct ward_mode_ops *ops = operations_of(m);
	*ret = WARD_RUNTIME_FOUND_INIT;
	return ops && ops->look ? ops->look(h, ret, ret_text, err) : 0;
}

int ward_mode_build(const struct ward_mode *m, const struct ward_mode_found *f,
	const struct ward_sandbox_spec *as, struct ward_err *err)
{
	const struct ward_mode_ops *ops = operations_of(m);
	return ops && ops->build ? ops->build(m, f, as, err) : 0;
}

int ward_mode_command(const struct ward_mode *m, const struct ward_mode_asked *a,
	struct ward_mode_command *ret, struct ward_err *err)
{
	const struct ward_mode_ops *ops = operations_of(m);
	*ret = WARD_RUNTIME_COMMAND_INIT;
	int r = ops && ops->command ? ops->command(a, ret, err) : 0;
	if (r < 0)
		ward_mode_command_clear(ret);
	return r;
}

static void clear_list(struct ward_mode_flag *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(v[i].text);
		free(v[i].from);
	}
	free(v);
}

void ward_mode_command_clear(struct ward_mode_command *c)
{
	for (size_t i = 0; c->argv && c->argv[i]; i++)
		free(c->argv[i]);
	free(c->argv);
	free(c->envp);
	clear_list(c->flags, c->n_flags);
	clear_list(c->reaches, c->n_reaches);
	*c = WARD_RUNTIME_COMMAND_INIT;
}

int ward_mode_begin(const struct ward_mode *m, const struct ward_sandbox_spec *spec,
	struct ward_confined **ret, struct ward_err *err)
{
	int r = ward_mode_usable(m, err);
	if (r == 0 && !complete(operations_of(m)))
		r = ward_err_set(err, -ENOTSUP, "it picks another mode, and runs nothing itself");
	if (r < 0)
		return ward_err_wrap(err, "mode '%s'", m->word ? m->word : "");
	struct ward_confined *c = calloc(1, sizeof(*c));
	if (!c)
		return ward_err_sys(err, -ENOMEM, "mode '%s'", m->word);
	c->mode = m;
	c->ops = operations_of(m);
	struct ward_sandbox_spec own = *spec;
	r = c->ops->prepare(c, &own, err);
	/* The row alone says which layers there are. */
	own.layers = m->layers;
	if (r == 0)
		r = c->ops->begin(c, &own, err);
	if (r < 0)
		ward_mode_free(c);
	else
		*ret = c;
	return r;
}

int ward_mode_reach(struct ward_confined *c, enum ward_stage stage, struct ward_err *err)
{
	return c->ops->reach(c, stage, err);
}

int ward_mode_create(const struct ward_mode *m, const struct ward_sandbox_spec *spec,
	struct ward_confined **ret, struct ward_err *err)
{
	struct ward_confined *c = NULL;
	int r = ward_mode_begin(m, spec, &c, err);
	for (int i = WARD_STAGE_STAGED; r == 0 && i <= WARD_STAGE_READY; i++)
		r = ward_mode_reach(c, (enum ward_stage)i, err);
	if (r < 0)
		ward_mode_free(c);
	else
		*ret = c;
	return r;
}

struct ward_sandbox *ward_mode_sandbox(const struct ward_confined *c)
{
	return c ? c->sandbox : NULL;
}

int ward_mode_probe(struct ward_confined *c, struct ward_probe_result ret[WARD_PROBE_COUNT_],
	enum ward_probe_verdict ret_verdicts[WARD_PROBE_COUNT_], struct ward_err *err)
{
	return c->ops->probe(c, ret, ret_verdicts, err);
}

int ward_mode_start(struct ward_confined *c, struct ward_err *err)
{
	return c->ops->start(c, err);
}

int ward_mode_next(struct ward_confined *c, struct ward_sandbox_event *ret)
{
	return c->ops->next(c, ret);
}

int ward_mode_exec(struct ward_confined *c, uint32_t id, const struct ward_sandbox_exec *e,
	struct ward_err *err)
{
	return c->ops->exec(c, id, e, err);
}

int ward_mode_signal(struct ward_confined *c, uint32_t id, int sig)
{
	return c->ops->signal(c, id, sig);
}

void ward_mode_stop(struct ward_confined *c)
{
	c->ops->stop(c);
}

void ward_mode_free(struct ward_confined *c)
{
	if (!c)
		return;
	if (c->sandbox)
		c->ops->stop(c);
	c->ops->free(c);
	free(c);
}
