/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/attack/by_hand.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "enforcer/attack/facts.h"
#include "enforcer/attack/inside.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/escape.h"
#include "enforcer/base/out.h"

#define ARGS_MAX 256

/* --- in the sandbox --- */
int ward_by_hand_try(const char *facts, const char *name)
{
	struct ward_facts f = {0};
	char said[WARD_SAID_SIZE] = "";
	const struct ward_attempt *a = ward_attack_find(name, NULL);
	ward_attempt_fn *act = a ? a->act : NULL;
	int status = 2;

	if (!act) {
		ward_outf("%s: no attempt of a program is called that; see wardfs attack --list\n",
			name);
	} else if (ward_attack_facts(&f, facts) == 0 && ward_attack_try(act, &f, said)) {
		const char *rest = strchr(said, ' ') ? strchr(said, ' ') + 1 : "";
		const bool did = strncmp(said, "did", 3) == 0,
			   unready = strncmp(said, "unready", 7) == 0;
		ward_outf("%s: %s%s%s\n", name,
			did	  ? "done"
			: unready ? "not tried: an earlier step was refused: "
				  : "refused: ",
			did && *rest ? ", and it brought back " : "", rest);
		status = did ? 0 : unready ? 3 : 1;
	} else {
		ward_outf("%s: cannot read the facts in %s\n", name, facts);
	}
	ward_facts_clear(&f);
	return ward_out_flush() < 0 ? 2 : status;
}

/* --- outside --- */
/* The shell's child of ours, for signals that end us. */
static volatile pid_t shell;

static void pass_on(int sig)
{
	if (shell > 0)
		(void)kill(shell, sig);
}

/* A shell's commands: the facts become variables, then a shell is there beside `attempt`. */
static char *opening(const char *facts)
{
	ward_cleanup_free char *dir = strndup(facts, (size_t)(strrchr(facts, '/') - facts));
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;

	if (!dir)
		return NULL;
	ward_buf_puts(&b, "while IFS='=' read -r key value; do\n"
			  "\texport \"fact_$key=$value\"\ndone <");
	ward_shell_word(&b, facts);
	ward_buf_puts(&b, "\ncd ");
	ward_shell_word(&b, dir);
	ward_buf_puts(&b, " || exit\n"
			  "if [ -t 0 ] && command -v bash >/dev/null; then\n"
			  "\texec bash --norc -i\nfi\nexec /bin/sh\n");
	return ward_buf_steal(&b);
}

/* The program `attempt`, in the directory at fd. */
static int put_attempt(int fd, const char *program, const char *facts)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;

	ward_buf_puts(&b, "#!/bin/sh\nexec ");
	ward_shell_word(&b, program);
	ward_buf_puts(&b, " try ");
	ward_shell_word(&b, facts);
	ward_buf_puts(&b, " \"$@\"\n");
	ward_buf_putc(&b, '\0');
	return ward_buf_error(&b) ? -1 : ward_tree_put(fd, "attempt", b.data, 0755);
}

static _Noreturn void become(const struct ward_world *w, char *const *argv, char *text)
{
	char sh[] = "/bin/sh", c[] = "-c", *words[ARGS_MAX];
	size_t n = 0;

	for (char *const *a = argv; a && *a && n < ARGS_MAX - 4; a++)
		words[n++] = *a;
	words[n++] = sh;
	words[n++] = c;
	words[n++] = text;
	words[n] = NULL;
	(void)signal(SIGINT, SIG_DFL);
	(void)signal(SIGQUIT, SIG_DFL);
	(void)signal(SIGTERM, SIG_DFL);
	(void)signal(SIGHUP, SIG_DFL);
	for (int i = 0; i < WARD_PASSED_COUNT; i++)
		if (w->left[i] >= 0)
			(void)fcntl(w->left[i], F_SETFD, 0);
	execvp(*words, words);
	ward_tellf("wardfs attack: %s: %s\n", *words, strerror(errno));
	_exit(127);
}

/* The exit status of the shell, or of a sandbox that did not start; -1 with errno. */
static int run(const struct ward_world *w, char *const *argv, char *text)
{
	const struct sigaction pass = {.sa_handler = pass_on}, none = {.sa_handler = SIG_IGN};
	int status;

	/* What the terminal sends is for the shell. */
	(void)sigaction(SIGINT, &none, NULL);
	(void)sigaction(SIGQUIT, &none, NULL);
	(void)sigaction(SIGTERM, &pass, NULL);
	(void)sigaction(SIGHUP, &pass, NULL);
	shell = fork();
	if (shell == 0)
		become(w, argv, text);
	if (shell < 0)
		return -1;
	while (waitpid(shell, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	shell = 0;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* What stands around the sandbox: a number for each attempt, or what differs from those before. */
struct scenes {
	uint64_t victim;
	size_t n;
	uint64_t *v;
};

static int look(struct ward_world *w, struct scenes *s, bool first)
{
	size_t i = 0, changed = 0;

	for (int g = 0; g < WARD_ATTACK_GROUPS; g++)
		s->n += first ? ward_attack_tables[g]->n : 0;
	if (first && !(s->v = calloc(s->n, sizeof(*s->v))))
		return -1;
	for (int g = 0; g < WARD_ATTACK_GROUPS; g++)
		for (size_t k = 0; k < ward_attack_tables[g]->n; k++, i++) {
			const struct ward_attempt *a = &ward_attack_tables[g]->v[k];
			/* Changes of the trail's own files are no harm by themselves. */
			if (a->evidence == WARD_SEEN_TRAIL || a->evidence == WARD_SEEN_TERMINAL)
				continue;
			if (first)
				ward_world_prepare(w, a, false);
			const uint64_t h = ward_world_scene(w, a);
			if (!first && h != s->v[i])
				ward_outf("changed outside: the target of %s\n", a->name);
			changed += !first && h != s->v[i];
			s->v[i] = h;
		}
	const uint64_t victim = ward_world_victim(w);
	if (!first && victim != s->victim)
		ward_outf("changed outside: process %llu, the victim\n",
			(unsigned long long)w->facts.victim);
	else if (!first && !changed)
		ward_outf("nothing has changed outside\n");
	s->victim = victim;
	return 0;
}

int ward_by_hand(
	struct ward_world *w, char *const *argv, const char *sandbox, char *why, size_t size)
{
	char self[PATH_MAX];
	struct scenes s = {0};
	const ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);
	/* Without a sandbox nothing runs that a session beside could have written. */
	const char *facts = argv ? w->facts_file : w->own_facts;
	const char *program = argv ? w->program : self;
	char *text = opening(facts);
	int status = -1;

	self[len < 0 ? 0 : len] = '\0';
	if (text && len > 0 && look(w, &s, true) == 0 &&
		put_attempt(argv ? w->work_fd : w->base_fd, program, facts) == 0) {
		ward_tellf("wardfs attack: a shell in %s. `./attempt NAME` makes an attempt, and "
			   "`set | grep fact_` shows what is around. `exit` ends it.\n",
			sandbox);
		status = run(w, argv, text);
	}
	if (status < 0)
		snprintf(why, size, "the shell: %s", strerror(errno));
	else
		(void)look(w, &s, false);
	free(s.v);
	free(text);
	return status < 0 ? -1 : 0;
}
