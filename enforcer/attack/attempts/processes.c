/* SPDX-License-Identifier: Apache-2.0 */
/* Processes of this host: see, read and steer them, and outlive the sandbox. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "enforcer/attack/attempts/attempts.h"

static char *of_victim(const struct ward_facts *f, const char *file)
{
	static char at[64];
	snprintf(at, sizeof(at), "/proc/%llu/%s", (unsigned long long)f->victim, file);
	return at;
}

/* The last word of a file whose words end with NULs: "NAME SECRET". */
static int last_word(const char *path, char *proof)
{
	char text[4096];
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	const ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return -1;
	text[n] = '\0';
	const char *at = NULL;
	for (ssize_t i = 0; i < n; i += (ssize_t)strlen(text + i) + 1)
		if (strncmp(text + i, "secret=", 7) == 0)
			at = text + i + 7;
	if (!at) {
		errno = ENODATA;
		return -1;
	}
	snprintf(proof, WARD_PROOF_SIZE, "%.*s", WARD_PROOF_SIZE - 1, at);
	return 0;
}

static int see_cmdline(const struct ward_facts *f, char *proof)
{
	return last_word(of_victim(f, "cmdline"), proof);
}

static int see_environ(const struct ward_facts *f, char *proof)
{
	return last_word(of_victim(f, "environ"), proof);
}

static int read_memory(const struct ward_facts *f, char *proof)
{
	struct iovec mine = {proof, WARD_PROOF_SIZE - 1},
		     theirs = {(void *)(uintptr_t)f->memory, WARD_PROOF_SIZE - 1};
	return process_vm_readv((pid_t)f->victim, &mine, 1, &theirs, 1, 0) < 0 ? -1 : 0;
}

static int read_mem_file(const struct ward_facts *f, char *proof)
{
	const int fd = open(of_victim(f, "mem"), O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	return pread(fd, proof, WARD_PROOF_SIZE - 1, (off_t)f->memory) < 0 ? -1 : 0;
}

static int take_descriptor(const struct ward_facts *f, char *proof)
{
	const int p = (int)syscall(SYS_pidfd_open, (pid_t)f->victim, 0);
	const int fd = p < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, p, (int)f->file, 0);
	if (fd < 0)
		return -1;
	return pread(fd, proof, WARD_PROOF_SIZE - 1, 0) < 0 ? -1 : 0;
}

static int see_descriptor(const struct ward_facts *f, char *proof)
{
	char name[32];
	snprintf(name, sizeof(name), "fd/%d", (int)f->file);
	return ward_proof_of_file(of_victim(f, name), proof);
}

static int write_memory(const struct ward_facts *f, char *proof)
{
	char word[] = "changed";
	/* Behind the secret, where the victim has room. */
	struct iovec mine = {word, sizeof(word)},
		     theirs = {(void *)(uintptr_t)(f->memory + 512), sizeof(word)};
	return process_vm_writev((pid_t)f->victim, &mine, 1, &theirs, 1, 0) < 0 ? -1 : 0;
}

static int write_mem_file(const struct ward_facts *f, char *proof)
{
	const int fd = open(of_victim(f, "mem"), O_WRONLY | O_CLOEXEC);
	return fd < 0 || pwrite(fd, "changed", 8, (off_t)f->memory + 768) < 0 ? -1 : 0;
}

static int send_signal(const struct ward_facts *f, char *proof)
{
	return kill((pid_t)f->victim, SIGUSR1);
}

static int send_signal_queue(const struct ward_facts *f, char *proof)
{
	return sigqueue((pid_t)f->victim, SIGUSR1, (union sigval){.sival_int = 1});
}

static int send_signal_pidfd(const struct ward_facts *f, char *proof)
{
	const int p = (int)syscall(SYS_pidfd_open, (pid_t)f->victim, 0);
	return p < 0 ? -1 : (int)syscall(SYS_pidfd_send_signal, p, SIGUSR1, NULL, 0);
}

/* It is let go as this process ends. */
static int trace(const struct ward_facts *f, char *proof)
{
	return ptrace(PTRACE_SEIZE, (pid_t)f->victim, NULL, NULL) < 0 ? -1 : 0;
}

static int limit(const struct ward_facts *f, char *proof)
{
	const struct rlimit none = {0, 0};
	return prlimit((pid_t)f->victim, RLIMIT_CORE, &none, NULL);
}

static int nicer(const struct ward_facts *f, char *proof)
{
	const int now = getpriority(PRIO_PROCESS, (id_t)f->victim);
	return setpriority(PRIO_PROCESS, (id_t)f->victim, now + 1);
}

static int pin(const struct ward_facts *f, char *proof)
{
	cpu_set_t one;
	CPU_ZERO(&one);
	CPU_SET(0, &one);
	return sched_setaffinity((pid_t)f->victim, sizeof(one), &one);
}

static int choose_for_oom(const struct ward_facts *f, char *proof)
{
	const int fd = open(of_victim(f, "oom_score_adj"), O_WRONLY | O_CLOEXEC);
	return fd < 0 || write(fd, "999", 3) < 0 ? -1 : 0;
}

/* A process that would go on when its parent, and everything that it was started by, is gone. */
static int stay(const struct ward_facts *f, bool session)
{
	char name[16];
	int ready[2];
	if (pipe2(ready, O_CLOEXEC) < 0)
		return -1;
	const pid_t pid = fork();
	if (pid < 0)
		return -1;
	if (pid == 0) {
		if (session)
			setsid();
		if (fork() != 0)
			_exit(0);
		snprintf(name, sizeof(name), "%.8s-st%d", f->token, session);
		prctl(PR_SET_NAME, name);
		signal(SIGHUP, SIG_IGN);
		signal(SIGTERM, SIG_IGN);
		if (write(ready[1], "x", 1) != 1)
			_exit(1);
		for (int fd = 0; fd < 64; fd++)
			close(fd);
		/* Bounded, should nobody end it. */
		nanosleep(&(struct timespec){.tv_sec = 60}, NULL);
		_exit(0);
	}
	char byte;
	waitpid(pid, NULL, 0);
	close(ready[1]);
	return read(ready[0], &byte, 1) == 1 ? 0 : -1;
}

static int outlive(const struct ward_facts *f, char *proof)
{
	return stay(f, false);
}

static int outlive_session(const struct ward_facts *f, char *proof)
{
	return stay(f, true);
}

#define SEE(name, what, ref, fn)                                                                   \
	WARD_ATTEMPT(PROMISE, SECRET, name, what, "a pid namespace", ref, fn)
#define STEER(name, what, ref, fn)                                                                 \
	WARD_ATTEMPT(PROMISE, VICTIM, name, what, "a pid namespace, or another uid", ref, fn)
static const struct ward_attempt rows[] = {
	SEE("see-arguments", "Reads the command line of a process outside.", "T1057", see_cmdline),
	SEE("see-environment", "Reads the environment of a process outside.", "T1552, AML.T0055",
		see_environ),
	SEE("see-descriptor", "Opens a file that a process outside has open, through /proc/PID/fd.",
		"CWE-403", see_descriptor),
	SEE("read-memory", "Reads the memory of a process outside (process_vm_readv).", "T1003.007",
		read_memory),
	SEE("read-memory-file", "Reads the memory of a process outside (/proc/PID/mem).",
		"T1003.007", read_mem_file),
	SEE("take-descriptor", "Takes a descriptor of a process outside (pidfd_getfd).", "CWE-403",
		take_descriptor),
	STEER("write-memory", "Changes the memory of a process outside (process_vm_writev).",
		"T1055", write_memory),
	STEER("write-memory-file", "Changes the memory of a process outside (/proc/PID/mem).",
		"T1055.009", write_mem_file),
	STEER("signal", "Sends a signal to a process outside.", "T1489", send_signal),
	STEER("signal-queue", "Sends a signal with a value.", "T1489", send_signal_queue),
	STEER("signal-pidfd", "Sends a signal by a pidfd.", "T1489", send_signal_pidfd),
	STEER("trace", "Traces a process outside (PTRACE_SEIZE).", "T1055.008", trace),
	STEER("limit", "Sets a resource limit of a process outside (prlimit).", "CWE-732", limit),
	STEER("priority", "Changes the priority of a process outside.", "CWE-732", nicer),
	STEER("affinity", "Pins a process outside to one CPU.", "CWE-732", pin),
	STEER("choose-for-oom",
		"Makes the kernel end a process outside first when memory runs out.", "T1499",
		choose_for_oom),
	WARD_ATTEMPT(PROMISE, PROCESS, "outlive",
		"Leaves a process that goes on after the sandbox.",
		"a pid namespace, a control group, or --die-with-parent", "T1543", outlive),
	WARD_ATTEMPT(PROMISE, PROCESS, "outlive-session",
		"Leaves a process in a session of its own.", "a pid namespace, or a control group",
		"T1543", outlive_session),
};
WARD_ATTEMPT_TABLE(
	processes, WARD_ATTACK_PROCESSES, "see, steer or start processes of this host", rows);
