/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wardfs-oci: an OCI runtime that gives every container a session of wardfs and leaves the rest to
 * the real runtime (docs/oci.md). Started by an engine as root.
 *
 *   create, run   host's file, bundle, policy; a mount namespace with the guard in it; the keeper;
 *                 then this process becomes the real runtime
 *   start         only while the session goes on
 *   exec          a record first; the process gets no more than the floor
 *   delete        the real runtime's; waits for the end of the session
 *   update        raises no limit above the policy's
 *   others        the real runtime's
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/kernel.h"
#include "enforcer/base/out.h"
#include "enforcer/container/container.h"
#include "enforcer/oci/arguments.h"
#include "enforcer/oci/container_plan.h"
#include "enforcer/oci/floor.h"
#include "enforcer/oci/host_policy.h"
#include "enforcer/oci/keeper.h"
#include "enforcer/oci/names.h"
#include "enforcer/oci/oci.h"
#include "enforcer/oci/place.h"
#include "enforcer/oci/runtime.h"
#include "enforcer/oci/spots.h"
#include "enforcer/oci/view.h"
#include "enforcer/session/control/control.h"

/* The end of a session whose container is gone: the trail goes to the disk. */
#define GONE_MS 60000
/* Above the descriptors that an engine hands on. */
#define PROCESS_FD 1000

static const char help[] =
	"Usage: wardfs-oci [GLOBAL OPTION...] COMMAND [OPTION...] ID [ARGUMENT...]\n"
	"\n"
	"  An OCI runtime for container engines: guards the volumes of each container by a policy,\n"
	"  and has another runtime do the rest. What it does is said by /etc/wardfs/oci.policy.\n"
	"\n"
	"  Commands: create start run exec state kill delete ps list pause resume update events\n"
	"  features, with the options of runc(8).\n";

/* Where engines look for it: stderr, and the file of --log. */
static int complain(const struct ward_oci_args *a, const char *text)
{
	ward_tellf("wardfs-oci: %s\n", text);
	ward_cleanup_fd int fd =
		a->log ? open(a->log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644)
		       : -1;
	if (fd < 0)
		return WARD_OCI_FAILED;
	char when[WARD_CLOCK_TEXT_MAX];
	ward_clock_format(ward_clock_real_ns(), when);
	ward_cleanup(ward_buf_clear) struct ward_buf msg = WARD_BUF_INIT;
	ward_buf_puts(&msg, "wardfs-oci: ");
	ward_shown(&msg, text);
	json_t *o = json_pack(
		"{s:s, s:s, s:s}", "level", "error", "msg", ward_buf_str(&msg), "time", when);
	ward_cleanup_free char *json = o ? json_dumps(o, JSON_COMPACT) : NULL;
	ward_cleanup(ward_buf_clear) struct ward_buf line = WARD_BUF_INIT;
	if (a->log_json && json)
		ward_buf_printf(&line, "%s\n", json);
	else
		ward_buf_printf(
			&line, "time=\"%s\" level=error msg=\"%s\"\n", when, ward_buf_str(&msg));
	json_decref(o);
	(void)!ward_fd_write_all(fd, line.data, line.len);
	return WARD_OCI_FAILED;
}

/* Root of the host: an engine's own user namespace has no /etc/wardfs that could be trusted. */
static int check_caller(struct ward_err *err)
{
	ward_cleanup_file FILE *f = fopen("/proc/self/uid_map", "re");
	unsigned inside = 1;
	unsigned outside = 1;
	unsigned long count = 0;
	if (geteuid() != 0 || !f || fscanf(f, "%u %u %lu", &inside, &outside, &count) != 3 ||
		inside != 0 || outside != 0 || count != 4294967295UL)
		return ward_err_set(err, -EPERM,
			"only root of the host can start containers with it; engines without root "
			"are not supported (fix: wardfs run --image)");
	return ward_kernel_check(err);
}

struct oci {
	struct ward_oci_args args;
	struct ward_oci_host host;
	struct ward_engine_found runtime;
	char *place;
};

static int create(struct oci *o, struct ward_err *err)
{
	struct ward_oci_container *c = calloc(1, sizeof(*c));
	struct ward_served *served = calloc(1, sizeof(*served));
	struct ward_oci_view view = WARD_OCI_VIEW_INIT;
	ward_cleanup_fd int lock = -1;
	ward_cleanup_fd int front = pidfd_open(getpid(), 0);
	if (!c || !served || front < 0)
		return ward_err_sys(err, c && served ? -errno : -ENOMEM, "%s", o->args.id);
	*c = WARD_OCI_CONTAINER_INIT;
	ward_served_init(served, err);
	int r = ward_oci_container_plan(&o->args, &o->host, c, &served->plan, err);
	if (r == 0)
		r = ward_oci_place_make(o->place, &lock, err);
	if (r == 0 && c->mapped)
		r = ward_oci_place_bundle(o->place, c, &o->args, err);
	if (r == 0)
		r = ward_oci_view_make(c, &o->host, o->place,
			ward_oci_wired(&o->host, served->plan.settings), &view, err);
	const struct ward_oci_keep k = {.args = &o->args,
		.host = &o->host,
		.container = c,
		.view = &view,
		.runtime = o->runtime.program,
		.place = o->place,
		.place_lock = lock,
		.front = front,
		.served = served};
	const bool made = r == 0;
	if (r == 0)
		r = ward_oci_keeper_start(&k, err);
	if (!made && lock >= 0)
		ward_oci_place_remove(o->place);
	/* From here on only the keeper has it. */
	if (lock >= 0)
		close(ward_steal_fd(&lock));
	if (r == 0)
		r = ward_oci_view_check(&view, o->args.bundle ? o->args.bundle : ".", err);
	ward_oci_view_clear(&view);
	ward_oci_container_clear(c);
	ward_run_plan_clear(&served->plan);
	free(c);
	free(served);
	return r == 0 ? ward_oci_runtime_become(o->runtime.program, &o->args, err) : r;
}

/* Its mounts are made, and nothing in it runs yet. */
static int check_mounts(struct oci *o, struct ward_err *err)
{
	pid_t pid = 0;
	int r = ward_oci_runtime_pid(o->runtime.program, &o->args, &pid, err);
	/* Without a process the runtime has nothing to start, and says so. */
	return r == 0 && pid > 0 ? ward_oci_spots_check(pid, err) : r;
}

static int start(struct oci *o, struct ward_err *err)
{
	ward_cleanup_free char *session = NULL;
	int r = ward_oci_place_read(o->place, &session, err);
	if (r == 0)
		r = ward_oci_keeper_alive(session, err);
	if (r == 0)
		r = check_mounts(o, err);
	return r < 0 ? ward_err_wrap(err, "cannot start %s without its guard", o->args.id)
		     : ward_oci_runtime_become(o->runtime.program, &o->args, err);
}

/* The file of --process or --resources; "-": standard input. */
static int read_json(const char *file, json_t **ret, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf text = WARD_BUF_INIT;
	ward_cleanup_fd int fd = -1;
	const bool input = strcmp(file, "-") == 0;
	int r = input ? 0 : ward_fd_open_named(file, WARD_NAMED_FILE, &fd, err);
	if (r < 0)
		return r;
	r = ward_fd_read_all(input ? STDIN_FILENO : fd, WARD_OCI_CONFIG_MAX, &text);
	*ret = r == 0 ? json_loadb(ward_buf_str(&text), text.len, JSON_REJECT_DUPLICATES, NULL)
		      : NULL;
	if (!*ret)
		return ward_err_set(err, -EINVAL, "%s: no object as JSON", file);
	return ward_oci_names_check(*ret, err) < 0 ? ward_err_wrap(err, "%s", file) : 0;
}

/* The same with what the floor made of it, in a descriptor that the runtime opens by number.
 * option: how the argument begins that names it. */
static int hand_on(struct oci *o, const json_t *p, const char *option, struct ward_err *err)
{
	ward_cleanup_fd int sealed = -1;
	ward_cleanup_free char *out = json_dumps(p, JSON_COMPACT);
	char *arg = NULL;
	int r = out ? ward_fd_sealed("wardfs-process", out, strlen(out), &sealed, err)
		    : ward_err_sys(err, -ENOMEM, "%s", o->args.process);
	/* Not close-on-exec: the runtime opens it, and closes it before it starts the process. */
	const int handed = r == 0 ? fcntl(sealed, F_DUPFD, PROCESS_FD) : -1;
	if (r == 0 && handed < 0)
		r = ward_err_sys(err, -errno, "%s", o->args.process);
	if (r == 0 && asprintf(&arg, "%s/proc/self/fd/%d", o->args.process_joined ? option : "",
			      handed) < 0)
		r = ward_err_sys(err, -ENOMEM, "%s", o->args.process);
	/* It lives as long as the command line. */
	if (r == 0)
		o->args.argv[o->args.process_at] = arg;
	return r;
}

static int floor_process(struct oci *o, json_t **ret, struct ward_err *err)
{
	static const struct ward_settings none = {
		.open_files = WARD_UNLIMITED, .file_size = WARD_UNLIMITED, .core = true};
	int r = read_json(o->args.process, ret, err);
	if (r == 0)
		r = ward_oci_floor_process(*ret, &o->host, &none, err);
	return r == 0 ? hand_on(o, *ret, "--process=", err) : r;
}

/* Engines change limits of a container that runs; not beyond those of its policy. */
static int update(struct oci *o, struct ward_err *err)
{
	struct ward_settings limits = {.core = false};
	json_t *resources = NULL;
	int r = ward_oci_place_limits(o->place, &limits, err);
	if (r == 0 && !o->args.process)
		r = ward_err_set(err, -EINVAL, "'update' needs --resources");
	if (r == 0)
		r = read_json(o->args.process, &resources, err);
	if (r == 0)
		r = ward_oci_floor_update(resources, &limits, err);
	if (r == 0)
		r = hand_on(o, resources, "--resources=", err);
	json_decref(resources);
	return r < 0 ? ward_err_wrap(err, "cannot update %s", o->args.id)
		     : ward_oci_runtime_become(o->runtime.program, &o->args, err);
}

/* The strings of a JSON array, borrowed, for a record; NULL without memory. */
static char **strings(const json_t *list)
{
	const size_t n = json_array_size(list);
	char **v = calloc(n + 1, sizeof(*v));
	for (size_t i = 0, k = 0; v && i < n; i++) {
		const char *s = json_string_value(json_array_get(list, i));
		if (s)
			v[k++] = (char *)(uintptr_t)s;
	}
	return v;
}

static int exec_in(struct oci *o, struct ward_err *err)
{
	ward_cleanup_free char *session = NULL;
	json_t *process = NULL;
	int r = ward_oci_place_read(o->place, &session, err);
	if (r == 0 && o->args.caps)
		r = ward_err_set(err, -EPERM,
			"--cap is refused: [floor] of %s says what a "
			"container may have",
			WARD_OCI_HOST_FILE);
	if (r == 0 && o->args.process)
		r = floor_process(o, &process, err);
	if (r < 0) {
		json_decref(process);
		return r;
	}
	ward_cleanup_free char **argv = process ? strings(json_object_get(process, "args")) : NULL;
	if (!process)
		r = ward_oci_place_cover(o->place, err);
	if (r == 0)
		r = ward_oci_keeper_join(session, argv ? argv : o->args.rest, NULL, err);
	if (r == 0)
		r = ward_oci_runtime_become(o->runtime.program, &o->args, err);
	else
		ward_err_wrap(err, "cannot join %s", o->args.id);
	json_decref(process);
	return r;
}

/* Returns the exit status. */
static int delete_it(struct oci *o, struct ward_err *err)
{
	ward_cleanup_free char *session = NULL;
	ward_cleanup_free char *runtime = NULL;
	struct ward_err none = WARD_ERR_INIT;
	int status = WARD_OCI_FAILED;
	const bool known = ward_oci_place_read(o->place, &session, &none) == 0;
	int r = ward_oci_runtime_call(o->runtime.program, &o->args, &status, err);
	if (r == 0)
		r = ward_control_runtime(&runtime, err);
	/* The next reader of the trail must find its end. */
	if (r == 0 && known && status == 0 && !ward_control_wait_gone(runtime, session, GONE_MS))
		r = ward_err_set(err, -ETIMEDOUT, "the session %s does not end", session);
	ward_oci_place_sweep(o->place);
	return r < 0 ? complain(&o->args, err->text) : status;
}

static int act(struct oci *o, struct ward_err *err)
{
	int r = ward_oci_host_read(NULL, &o->host, err);
	if (r == 0)
		r = ward_engine_look(
			o->host.runtime ? o->host.runtime : "runc", 0, &o->runtime, err);
	if (r == 0 && ward_engine_manages(o->runtime.engine))
		r = ward_err_set(err, -EINVAL,
			"runtime = %s of [oci] is no OCI runtime; fix: runtime = runc",
			ward_engine_word(o->runtime.engine));
	if (r == 0 && o->args.id)
		r = ward_oci_place_path(&o->args, &o->place, err);
	if (r < 0)
		return complain(&o->args, err->text);
	switch (o->args.command) {
	case WARD_OCI_CREATE:
	case WARD_OCI_RUN:
		r = create(o, err);
		break;
	case WARD_OCI_START:
		r = start(o, err);
		break;
	case WARD_OCI_EXEC:
		r = exec_in(o, err);
		break;
	case WARD_OCI_DELETE:
		return delete_it(o, err);
	case WARD_OCI_UPDATE:
		r = update(o, err);
		break;
	case WARD_OCI_PASSED:
		r = ward_oci_runtime_become(o->runtime.program, &o->args, err);
		break;
	case WARD_OCI_NONE:
	case WARD_OCI_HELP:
	case WARD_OCI_VERSION:
		break;
	}
	return r < 0 ? complain(&o->args, err->text) : 0;
}

int main(int argc, char **argv)
{
	struct ward_err err = WARD_ERR_INIT;
	struct oci o = {.runtime = WARD_ENGINE_FOUND_INIT};
	/* The engine's environment says nothing: places are those of the host, and the owner is
	 * root, whoever started the engine. Trails still name SUDO_USER. */
	static const char *const dropped[] = {"HOME", "SUDO_GID", "SUDO_UID", "XDG_CONFIG_HOME",
		"XDG_RUNTIME_DIR", "XDG_STATE_HOME"};
	for (size_t i = 0; i < sizeof(dropped) / sizeof(dropped[0]); i++)
		(void)unsetenv(dropped[i]);
	if (ward_oci_arguments(argc, argv, &o.args, &err) < 0)
		return complain(&o.args, err.text);
	if (o.args.command == WARD_OCI_HELP || o.args.command == WARD_OCI_VERSION) {
		if (o.args.command == WARD_OCI_HELP)
			ward_out_lines(help, sizeof(help) - 1);
		else
			/* Engines look for the word "spec". */
			ward_outf("wardfs-oci version " WARD_VERSION "\nspec: 1.0.2\n");
		return ward_out_flush() < 0 ? WARD_OCI_FAILED : 0;
	}
	if (check_caller(&err) < 0)
		return complain(&o.args, err.text);
	int status = act(&o, &err);
	ward_oci_host_clear(&o.host);
	ward_engine_found_clear(&o.runtime);
	free(o.place);
	return status;
}
