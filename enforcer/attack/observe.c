/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/attack/observe.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "enforcer/attack/look.h"
#include "enforcer/attack/trail_look.h"
#include "enforcer/base/out.h"

#define ARGS_MAX 256
/* A sandbox that says nothing for so long is ended. */
#define ANSWER_MS 20000
/* A sandbox that goes while an attempt is made is started again, so often. */
#define STARTS_MAX 8

/* A running sandbox, or the same program outside of any. */
struct place {
	char *const *argv;
	bool outside, alone, owned, verbose; /* owned: in namespaces of its own, with all
						capabilities; alone: no sandbox */
	pid_t pid;
	int to, from, said; /* said: where its messages go, behind a secret */
	struct ward_terminal terminal;
};

/* --- starting and talking --- */
static void own_namespaces(void)
{
	char at[64], text[64];
	const uid_t uid = getuid();
	const gid_t gid = getgid();

	if (uid != 0) {
		if (unshare(CLONE_NEWUSER) < 0)
			return;
		static const char *const files[] = {"setgroups", "gid_map", "uid_map"};
		for (int i = 0; i < 3; i++) {
			snprintf(at, sizeof(at), "/proc/self/%s", files[i]);
			const int n =
				i == 0 ? snprintf(text, sizeof(text), "deny")
				       : snprintf(text, sizeof(text), "0 %u 1", i == 1 ? gid : uid);
			const int fd = open(at, O_WRONLY | O_CLOEXEC);
			(void)!write(fd, text, (size_t)n);
			close(fd);
		}
	}
	/* The host keeps its mounts and its name. */
	if (unshare(CLONE_NEWNS | CLONE_NEWUTS) == 0)
		(void)mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
}

/* A script's control: an engine with all rights. */
static size_t script_control(const struct ward_world *w, char **argv)
{
	static char run[] = "run", all[] = "--allow-all", config[] = "--no-config",
		    lock[] = "--no-lock", remote[] = "--no-remote", none[] = "node";
	char *const options[] = {run, all, config, lock, remote};
	size_t n = 0;

	argv[n++] = w->engine ? w->engine : none;
	for (size_t i = 0; w->deno && i < sizeof(options) / sizeof(*options); i++)
		argv[n++] = options[i];
	argv[n++] = w->own_script;
	return n;
}

static _Noreturn void execute(const struct place *p, const struct ward_world *w)
{
	char word[] = "inside", own[] = "own=1", own_program[] = "/proc/self/exe";
	char *argv[ARGS_MAX];
	size_t n = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dup2(p->said, 2);
	/* As a shell in a terminal starts it. */
	if (setsid() > 0 && p->terminal.slave >= 0)
		(void)ioctl(p->terminal.slave, TIOCSCTTY, 0);
	for (int i = 0; i < WARD_PASSED_COUNT; i++)
		if (w->left[i] >= 0)
			fcntl(w->left[i], F_SETFD, 0);
	if (p->owned)
		own_namespaces();
	for (char *const *a = p->outside ? NULL : p->argv; a && *a && n < ARGS_MAX - 5; a++)
		argv[n++] = *a;
	/* Outside, nothing that a session can write is run or believed: the workspace is writable.
	 */
	const bool here = p->outside || !p->argv;
	if (here && w->own_script)
		n = script_control(w, argv);
	else
		argv[n++] = here ? own_program : w->program;
	argv[n++] = word;
	argv[n++] = here ? w->own_facts : w->facts_file;
	if (p->owned)
		argv[n++] = own;
	argv[n] = NULL;
	execvp(*argv, argv);
	dprintf(2, "wardfs-attack: %s: %s\n", *argv, strerror(errno));
	_exit(127);
}

static bool hear(struct place *p, char line[128])
{
	struct pollfd f = {.fd = p->from, .events = POLLIN};
	size_t n = 0;

	while (n < 127) {
		if (poll(&f, 1, ANSWER_MS) != 1 || read(p->from, line + n, 1) != 1)
			return false;
		if (line[n] == '\n')
			break;
		n++;
	}
	line[n] = '\0';
	return true;
}

static bool ask(struct place *p, const char *text, char line[128])
{
	const size_t n = strlen(text);
	return write(p->to, text, n) == (ssize_t)n && hear(p, line);
}

static void leave(struct place *p)
{
	if (p->to >= 0)
		close(p->to);
	/* It ends by itself as its input ends. */
	for (int i = 0; p->pid > 0 && i < 500; i++) {
		if (waitpid(p->pid, NULL, WNOHANG) == p->pid)
			p->pid = 0;
		else
			nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
	}
	if (p->pid > 0) {
		kill(p->pid, SIGKILL);
		waitpid(p->pid, NULL, 0);
	}
	if (p->from >= 0)
		close(p->from);
	p->pid = 0;
	p->to = p->from = -1;
	ward_terminal_close(&p->terminal);
}

static bool enter(struct place *p, const struct ward_world *w)
{
	int to[2], from[2];
	char line[128], hello[64];

	p->to = p->from = -1;
	p->terminal = (struct ward_terminal)WARD_TERMINAL_NONE;
	/* The host may have none left: its attempts are then without a control. */
	(void)!ward_terminal_open(&p->terminal);
	if (pipe2(to, O_CLOEXEC) < 0 || pipe2(from, O_CLOEXEC) < 0)
		return false;
	p->pid = fork();
	if (p->pid == 0) {
		dup2(to[0], 0);
		dup2(from[1], 1);
		execute(p, w);
	}
	close(to[0]);
	close(from[1]);
	p->to = to[1];
	p->from = from[0];
	snprintf(hello, sizeof(hello), "hello %s", w->facts.token);
	if (p->pid > 0 && hear(p, line) && strcmp(line, hello) == 0)
		return true;
	leave(p);
	return false;
}

/* --- one attempt --- */
/* A signal that was sent arrives when the victim gets a CPU. */
static bool victim_changed(const struct ward_world *w, uint64_t before, bool did)
{
	for (int i = 0; did && i < 200 && ward_world_victim(w) == before; i++)
		nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
	return ward_world_victim(w) != before;
}

/* The verdict rests on what /proc shows of the process. */
static bool by_look(enum ward_attack_evidence e)
{
	return e == WARD_SEEN_GAIN || e == WARD_SEEN_LACK || e == WARD_SEEN_STATE;
}

/* What stands in the file of errors from before: another number if it is not as it was. */
static uint64_t before_errors(const struct place *p)
{
	char text[WARD_PROOF_SIZE] = "";
	struct stat st = {0};

	(void)!pread(p->said, text, sizeof(text) - 1, 0);
	text[strcspn(text, "\n")] = '\0';
	(void)fstat(p->said, &st);
	return ward_mix(
		ward_mix(WARD_MIX_BEGIN, text, strlen(text)), &st.st_mode, sizeof(st.st_mode));
}

static void prepare_errors(const struct place *p, const struct ward_world *w)
{
	(void)fchmod(p->said, 0600);
	(void)!pwrite(p->said, w->before, strlen(w->before), 0);
	(void)!pwrite(p->said, "\n", 1, (off_t)strlen(w->before));
}

static uint64_t scene_of(
	const struct place *p, const struct ward_world *w, const struct ward_attempt *a)
{
	uint64_t h = ward_world_scene(w, a);
	if (a->evidence == WARD_SEEN_OUTPUT)
		h = before_errors(p);
	if (a->evidence == WARD_SEEN_TERMINAL) {
		const uint64_t own = ward_terminal_scene(&p->terminal);
		h = ward_mix(h, &own, sizeof(own));
	}
	return h;
}

/* What is written to a terminal arrives a little later. */
static bool scene_changed(const struct place *p, const struct ward_world *w,
	const struct ward_attempt *a, uint64_t before, bool did)
{
	for (int i = 0;
		did && a->evidence == WARD_SEEN_TERMINAL && i < 40 && scene_of(p, w, a) == before;
		i++)
		nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
	return scene_of(p, w, a) != before;
}

static bool attempt_once(struct place *p, struct ward_world *w, const struct ward_attempt *a,
	const char *later, struct ward_ran *ran)
{
	char line[128], command[128], name[16];
	struct ward_look before, after, own;
	const uint64_t scene = scene_of(p, w, a), victim = ward_world_victim(w);

	snprintf(command, sizeof(command), "ready %s %s\n", a->name, later);
	if (!ask(p, command, line))
		return false;
	if (strcmp(line, "absent") == 0) {
		ran->absent = true;
		return true;
	}
	snprintf(name, sizeof(name), "%.8s-try", w->facts.token);
	const pid_t pid = by_look(a->evidence) ? ward_look_find(name) : -1;
	ran->looked = pid > 0 && ward_look_at(pid, &before) == 0;
	if (!ask(p, "go\n", line))
		return false;
	const char *gain = NULL;
	/* A filter may have ended it: what was around it before counts. */
	const bool ended = ran->looked && ward_look_at(pid, &after) < 0;
	if (ran->looked) {
		gain = ended ? NULL : ward_look_gain(&before, &after);
		after = ended ? before : after;
		ran->lacks = a->evidence == WARD_SEEN_LACK && ward_look_at(getpid(), &own) == 0 &&
			     ward_look_lacks(&own, &after, a->needs);
	}
	ran->ran = true;
	ran->did = strncmp(line, "did", 3) == 0;
	ran->unready = strncmp(line, "unready", 7) == 0;
	if (a->evidence == WARD_SEEN_SECRET)
		ran->effect = ran->did && ward_world_told(w, line + 4);
	else if (a->evidence == WARD_SEEN_CHANGE || a->evidence == WARD_SEEN_TERMINAL ||
		 a->evidence == WARD_SEEN_OUTPUT || a->evidence == WARD_SEEN_TRAIL)
		ran->effect = scene_changed(p, w, a, scene, ran->did);
	else if (a->evidence == WARD_SEEN_VICTIM)
		ran->effect = victim_changed(w, victim, ran->did);
	else if (a->evidence == WARD_SEEN_GAIN)
		ran->effect = gain != NULL;
	else if (a->evidence == WARD_SEEN_LACK)
		/* A kernel of the sandbox's own may have answered. */
		ran->effect = ran->did && ran->looked;
	else if (a->evidence == WARD_SEEN_STATE)
		ran->effect = ran->looked && (ward_look_at(getpid(), &own) < 0 ||
						     ward_look_state(&own, &before, a->needs));
	if (gain)
		snprintf(ran->seen, sizeof(ran->seen), "it has %s", gain);
	snprintf(ran->said, sizeof(ran->said), "%.60s",
		ran->did	    ? "did"
		: strchr(line, ' ') ? strchr(line, ' ') + 1
				    : line);
	return ask(p, "over\n", line);
}

/* Is a process of an attempt still there? Ends it. */
static bool lives_on(const struct ward_world *w, const struct ward_attempt *a)
{
	char name[16];
	snprintf(name, sizeof(name), "%.8s-st%d", w->facts.token, strcmp(a->name, "outlive") != 0);
	bool found = false;
	pid_t pid;
	for (int i = 0; i < 100 && (pid = ward_look_find(name)) > 0; i++) {
		found = true;
		kill(pid, SIGKILL);
		/* It is not ours to wait for. */
		nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
	}
	return found;
}

static struct ward_ran *ran_of(struct ward_attack_outcome *o, bool outside)
{
	return outside ? &o->outside : &o->inside;
}

/* Whether an outcome is made in this round: in which namespaces, and the first or the second part.
 */
static bool belongs(const struct ward_attack_outcome *o, const struct place *p, bool later)
{
	const bool kernel =
		o->attempt->evidence == WARD_SEEN_GAIN || o->attempt->evidence == WARD_SEEN_LACK;
	if (later && !o->attempt->later)
		return false;
	/* Without a sandbox, root's namespaces would be seen in place of none. */
	if (p->alone)
		return p->owned == (o->attempt->evidence != WARD_SEEN_STATE);
	return !p->outside || p->owned == kernel;
}

/* Makes all attempts of a round in one sandbox, or in several where it ends: false if none starts.
 */
static bool round_of(
	struct place *p, struct ward_world *w, bool later, struct ward_attack_outcome *v, size_t n)
{
	bool running = false, ever = false;
	int starts = 0;

	for (size_t i = 0; i < n; i++) {
		struct ward_ran *ran = ran_of(&v[i], p->outside);
		if (!belongs(&v[i], p, later) || (later && !ran->did))
			continue;
		if (!running && (starts++ >= STARTS_MAX || !(running = enter(p, w))))
			break;
		ever = true;
		if (!later) {
			ward_world_prepare(w, v[i].attempt, p->outside);
			ward_terminal_prepare(&p->terminal, w->typed);
			prepare_errors(p, w);
		}
		*ran = (struct ward_ran){0};
		if (!attempt_once(p, w, v[i].attempt, later ? "later" : "", ran)) {
			*ran = (struct ward_ran){.ended = true};
			leave(p);
			running = false;
		}
	}
	if (running)
		leave(p);
	for (size_t i = 0; i < n && !later; i++) {
		struct ward_ran *ran = ran_of(&v[i], p->outside);
		if (v[i].attempt->evidence == WARD_SEEN_PROCESS && belongs(&v[i], p, later))
			ran->effect = lives_on(w, v[i].attempt) && ran->ran;
	}
	return ever;
}

/* --- the trail --- */
/*
 * An attempt on the trail changed a file: in ran->effect until here. It is broken if no record
 * names the file, or if one says what nobody did.
 */
static bool trail_broken(const struct ward_world *w, const struct ward_trail_look *t,
	const struct ward_attempt *a, const struct ward_ran *ran)
{
	char end[160], forged[64];

	snprintf(forged, sizeof(forged), "forged-%s", w->facts.token);
	if (strncmp(a->name, "forge-", 6) == 0)
		return ran->did && ward_trail_forged(t, forged);
	if (strcmp(a->name, "flood") == 0 && ran->effect) {
		for (int i = 0; i < WARD_TRAIL_FLOOD; i++) {
			snprintf(end, sizeof(end), "/%s/trail-flood/%04d", w->work_name, i);
			if (!ward_trail_names(t, end))
				return true;
		}
		return !ward_trail_intact(t);
	}
	snprintf(end, sizeof(end), "/%s/trail-%s", w->work_name, a->name);
	return ran->effect && !ward_trail_names(t, end);
}

static void look_at_trail(const struct ward_world *w, struct ward_attack_outcome *v, size_t n)
{
	struct ward_trail_look *t = w->wardfs ? ward_trail_read(w->wardfs, w->session) : NULL;
	char facts[64];

	snprintf(facts, sizeof(facts), "/%s/facts", w->work_name);
	/* A trail that does not have what every run reads is no evidence. */
	const bool read = t && ward_trail_names(t, facts);
	for (size_t i = 0; i < n; i++) {
		struct ward_ran *in = &v[i].inside, *out = &v[i].outside;
		if (v[i].attempt->evidence != WARD_SEEN_TRAIL)
			continue;
		out->effect |= out->did;
		in->looked = read;
		in->effect = read && trail_broken(w, t, v[i].attempt, in);
	}
	ward_trail_look_free(t);
}

/* --- the verdict --- */
static bool forbidden(const char *said)
{
	return strcmp(said, "EPERM") == 0 || strcmp(said, "EACCES") == 0;
}

/* This kernel, or this host, has no such thing. */
static bool lacking(const char *said)
{
	static const char *const all[] = {"ENOSYS", "ENOENT", "ENODEV", "ENXIO", "EAFNOSUPPORT",
		"ESOCKTNOSUPPORT", "EPROTONOSUPPORT"};
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (strcmp(said, all[i]) == 0)
			return true;
	return false;
}

/* The world could not make what the attempt is about; or terminals take no input from programs
   (the setting dev.tty.legacy_tiocsti). */
static bool missing(const struct ward_attack_outcome *o)
{
	return strcmp(o->outside.said, "ENODEV") == 0 ||
	       (o->attempt->evidence == WARD_SEEN_TERMINAL && strcmp(o->outside.said, "EIO") == 0);
}

static void untested(struct ward_attack_outcome *o, const char *why)
{
	o->verdict = WARD_ATTACK_UNTESTED;
	snprintf(o->seen, sizeof(o->seen), "%s", why);
}

static void judge(struct ward_attack_outcome *o)
{
	const struct ward_ran *in = &o->inside, *out = &o->outside;
	const enum ward_attack_evidence e = o->attempt->evidence;

	snprintf(o->said, sizeof(o->said), "%s", in->said);
	snprintf(o->control, sizeof(o->control), "%s",
		out->effect  ? "did"
		: *out->said ? out->said
			     : "not made");
	if (in->absent) {
		o->verdict = WARD_ATTACK_NOT_APPLICABLE;
		snprintf(o->seen, sizeof(o->seen), "it takes a program, and only scripts run");
	} else if (e == WARD_SEEN_TRAIL && !in->looked) {
		o->verdict = WARD_ATTACK_NOT_APPLICABLE;
		snprintf(o->seen, sizeof(o->seen), "there is no trail that wardfs can read");
	} else if (in->effect) {
		o->verdict = WARD_ATTACK_BROKEN;
		snprintf(o->seen, sizeof(o->seen), "%s", *in->seen ? in->seen : "");
	} else if (in->ended) {
		untested(o, "the sandbox ended during the attempt");
	} else if (!in->ran) {
		untested(o, "not made");
	} else if (in->unready) {
		untested(o, "a step before the attempt was refused");
	} else if (!out->effect && !in->did && forbidden(out->said)) {
		o->verdict = WARD_ATTACK_NOT_APPLICABLE;
		snprintf(o->seen, sizeof(o->seen), "the caller may not do it outside either");
	} else if (!out->effect && !in->did && lacking(out->said) &&
		   (e == WARD_SEEN_GAIN || e == WARD_SEEN_LACK)) {
		o->verdict = WARD_ATTACK_NOT_APPLICABLE;
		snprintf(o->seen, sizeof(o->seen), "this host does not have it");
	} else if (!out->effect && !in->did && missing(o)) {
		o->verdict = WARD_ATTACK_NOT_APPLICABLE;
		snprintf(o->seen, sizeof(o->seen), "this host does not have it");
	} else if (!out->effect && e == WARD_SEEN_STATE && out->looked) {
		o->verdict = WARD_ATTACK_NOT_APPLICABLE;
		snprintf(o->seen, sizeof(o->seen), "it is so for the caller, too");
	} else if (!out->effect) {
		untested(o, "the control failed");
	} else if (by_look(e) && !in->looked) {
		untested(o, "its process cannot be seen from outside");
	} else if (e == WARD_SEEN_LACK && !in->lacks) {
		untested(o, "nothing seen from outside explains the refusal");
	} else {
		o->verdict = WARD_ATTACK_HELD;
	}
}

/* What the sandboxes said, once they have ended. */
static void repeat_errors(int said, size_t at)
{
	char text[4096];
	ssize_t n;

	while ((n = pread(said, text, sizeof(text), (off_t)at)) > 0) {
		ward_tellf("%.*s", (int)n, text);
		at += (size_t)n;
	}
}

int ward_observe(struct ward_world *w, char *const *argv, bool verbose,
	struct ward_attack_outcome *v, size_t n, char *why, size_t size)
{
	/* Without a sandbox, root's attempts must not reach the host's mounts. */
	const bool alone = !argv && getuid() == 0;
	struct place inside = {.argv = argv, .verbose = verbose, .alone = alone, .owned = alone},
		     bare = {.verbose = verbose, .alone = true},
		     plain = {.outside = true, .verbose = verbose},
		     owned = {.outside = true, .owned = true, .verbose = verbose};

	/* A sandbox that ends in the middle of a line is no reason for us to end. */
	(void)signal(SIGPIPE, SIG_IGN);
	inside.said = memfd_create("said", MFD_CLOEXEC);
	prepare_errors(&inside, w);
	(void)lseek(inside.said, 0, SEEK_END);
	plain.said = owned.said = bare.said = inside.said;
	bool started = round_of(&inside, w, false, v, n);
	started |= alone && round_of(&bare, w, false, v, n);
	if (!started) {
		const ssize_t said =
			pread(inside.said, why, size - 1, (off_t)strlen(w->before) + 1);
		why[said > 0 ? said : 0] = '\0';
		close(inside.said);
		return -1;
	}
	(void)round_of(&inside, w, true, v, n);
	ward_world_sweep(w);
	(void)round_of(&plain, w, false, v, n);
	(void)round_of(&plain, w, true, v, n);
	(void)round_of(&owned, w, false, v, n);
	ward_world_sweep(w);
	look_at_trail(w, v, n);
	if (verbose)
		repeat_errors(inside.said, strlen(w->before) + 1);
	if (inside.said >= 0)
		close(inside.said);
	for (size_t i = 0; i < n; i++)
		judge(&v[i]);
	return 0;
}

const char *ward_attack_verdict_name(enum ward_attack_verdict v)
{
	static const char *const names[] = {"held", "broken", "not applicable", "untested"};
	return names[v];
}
