/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/attack/inside.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "enforcer/attack/facts.h"

/* No attempt takes longer; one that hangs is ended. */
#define ATTEMPT_SECONDS 8

/* A process that makes one attempt, and the pipes to it. */
struct trial {
	pid_t pid;
	int go, said;
};

static void say(const char *text)
{
	fputs(text, stdout);
	fputc('\n', stdout);
	(void)fflush(stdout);
}

static _Noreturn void attempt(ward_attempt_fn *act, const struct ward_facts *f, int go, int said)
{
	char name[16], byte, proof[WARD_PROOF_SIZE] = "", line[WARD_SAID_SIZE];

	snprintf(name, sizeof(name), "%.8s-try", f->token);
	prctl(PR_SET_NAME, name);
	(void)signal(SIGALRM, SIG_DFL);
	if (f->own && unshare(CLONE_NEWNS | CLONE_NEWUTS) < 0)
		_exit(1);
	if (write(said, "ready\n", 6) != 6 || read(go, &byte, 1) != 1)
		_exit(1);
	alarm(ATTEMPT_SECONDS);
	const int r = act(f, proof), e = errno;
	alarm(0);
	proof[strcspn(proof, " \n")] = '\0';
	const int n = r >= 0 ? snprintf(line, sizeof(line), "did %s\n", proof)
			     : snprintf(line, sizeof(line), "%s %s\n",
				       r == WARD_UNREADY ? "unready" : "not",
				       strerrorname_np(e) ? strerrorname_np(e) : "?");
	/* The observer looks before the next byte comes. */
	if (write(said, line, (size_t)n) != n || read(go, &byte, 1) != 1)
		_exit(1);
	_exit(0);
}

static bool begin(struct trial *t, ward_attempt_fn *act, const struct ward_facts *f)
{
	int go[2], said[2];

	if (pipe2(go, O_CLOEXEC) < 0 || pipe2(said, O_CLOEXEC) < 0)
		return false;
	t->pid = fork();
	if (t->pid == 0) {
		const int zero = open("/dev/null", O_RDWR);
		/* Its own pipes stand high: attempts that look at low descriptors find what was
		 * left open. */
		const int g = fcntl(go[0], F_DUPFD_CLOEXEC, 300),
			  s = fcntl(said[1], F_DUPFD_CLOEXEC, 300);
		close(go[0]);
		close(go[1]);
		close(said[0]);
		close(said[1]);
		if (zero >= 0) {
			dup2(zero, 0);
			dup2(zero, 1);
			close(zero);
		}
		attempt(act, f, g, s);
	}
	close(go[0]);
	close(said[1]);
	t->go = go[1];
	t->said = said[0];
	return t->pid > 0;
}

/* The next line of the process, without its end; or how it died. */
static void answer(struct trial *t, char line[WARD_SAID_SIZE])
{
	size_t n = 0;
	int status;

	while (n < WARD_SAID_SIZE - 1 && read(t->said, line + n, 1) == 1 && line[n] != '\n')
		n++;
	line[n] = '\0';
	if (n)
		return;
	if (waitpid(t->pid, &status, 0) == t->pid && WIFSIGNALED(status))
		snprintf(line, WARD_SAID_SIZE, "died SIG%s",
			sigabbrev_np(WTERMSIG(status)) ? sigabbrev_np(WTERMSIG(status)) : "?");
	else
		snprintf(line, WARD_SAID_SIZE, "died 0");
	t->pid = 0;
}

static void finish(struct trial *t)
{
	close(t->go);
	close(t->said);
	if (t->pid > 0)
		waitpid(t->pid, NULL, 0);
	*t = (struct trial){0};
}

/* One command of the observer's. False: it is wrong. */
static bool obey(struct trial *t, const char *line, const struct ward_facts *f)
{
	char name[64], word[16] = "", said[WARD_SAID_SIZE];

	if (sscanf(line, "ready %63s %15s", name, word) >= 1 && !t->pid) {
		const struct ward_attempt *a = ward_attack_find(name, NULL);
		ward_attempt_fn *act = !a ? NULL : strcmp(word, "later") == 0 ? a->later : a->act;
		if (!act || !begin(t, act, f))
			return false;
		answer(t, said);
		say(said);
		return true;
	}
	if (strcmp(line, "go") == 0 && t->pid) {
		if (write(t->go, "g", 1) != 1)
			return false;
		answer(t, said);
		say(said);
		return true;
	}
	if (strcmp(line, "over") == 0) {
		if (t->go)
			finish(t);
		say("over");
		return true;
	}
	return false;
}

bool ward_attack_try(ward_attempt_fn *act, const struct ward_facts *f, char said[WARD_SAID_SIZE])
{
	struct trial t = {0};

	(void)signal(SIGPIPE, SIG_IGN);
	if (!begin(&t, act, f))
		return false;
	answer(&t, said);
	if (strcmp(said, "ready") == 0 && write(t.go, "g", 1) == 1)
		answer(&t, said);
	finish(&t);
	return true;
}

int ward_attack_facts(struct ward_facts *f, const char *file)
{
	FILE *in = fopen(file, "re");
	const int r = in && ward_facts_read(f, in) == 0 ? 0 : 2;

	if (in)
		fclose(in);
	return r;
}

int ward_attack_inside(const char *facts, char *const *settings)
{
	struct ward_facts f = {0};
	struct trial t = {0};
	char line[256];
	int r = ward_attack_facts(&f, facts);

	for (; r == 0 && settings && *settings; settings++) {
		FILE *more = fmemopen(*settings, strlen(*settings), "r");
		if (!more || ward_facts_read(&f, more) != 0)
			r = 2;
		if (more)
			fclose(more);
	}
	if (r == 0 && (!f.token || !f.work || !f.outside || !f.secret))
		r = 2;
	(void)signal(SIGPIPE, SIG_IGN);
	if (r == 0) {
		printf("hello %s\n", f.token);
		(void)fflush(stdout);
	}
	while (r == 0 && fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		if (!obey(&t, line, &f))
			r = 2;
	}
	ward_facts_clear(&f);
	return r;
}
