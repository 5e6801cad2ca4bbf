/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs while wardfs is built: writes the programs of filters.h into the file that is its one
 * argument.
 */
#include <errno.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <seccomp.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#define N(v) (sizeof(v) / sizeof(*(v)))

struct list {
	const char *name;
	uint32_t otherwise;
	const int *calls;
	size_t n_calls;
	const int *families; /* of sockets that may be made */
	size_t n_families;
};

static const int broker_calls[] = {/* sockets that are there, and the ring's wake-up */
	SCMP_SYS(read), SCMP_SYS(pread64), SCMP_SYS(write), SCMP_SYS(readv), SCMP_SYS(writev),
	SCMP_SYS(recvfrom), SCMP_SYS(recvmsg), SCMP_SYS(sendto), SCMP_SYS(sendmsg),
	SCMP_SYS(connect), SCMP_SYS(bind), SCMP_SYS(accept4), SCMP_SYS(shutdown),
	SCMP_SYS(getsockname), SCMP_SYS(getpeername), SCMP_SYS(getsockopt), SCMP_SYS(setsockopt),
	SCMP_SYS(close), SCMP_SYS(fcntl), SCMP_SYS(pipe2), SCMP_SYS(splice),
	/* the loop */
	SCMP_SYS(epoll_ctl), SCMP_SYS(epoll_wait), SCMP_SYS(epoll_pwait), SCMP_SYS(poll),
	SCMP_SYS(ppoll), SCMP_SYS(futex), SCMP_SYS(clock_gettime), SCMP_SYS(gettimeofday),
	SCMP_SYS(getrandom),
	/* memory, signals, end */
	SCMP_SYS(mprotect), SCMP_SYS(brk), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise),
	SCMP_SYS(rt_sigreturn), SCMP_SYS(rt_sigprocmask), SCMP_SYS(rt_sigaction),
	SCMP_SYS(restart_syscall), SCMP_SYS(getpid), SCMP_SYS(gettid), SCMP_SYS(tgkill),
	SCMP_SYS(fstat), SCMP_SYS(newfstatat), SCMP_SYS(lseek), SCMP_SYS(exit),
	SCMP_SYS(exit_group)};
/* What every child does: questions, answers, memory, its end. */
static const int child_calls[] = {SCMP_SYS(recvmsg), SCMP_SYS(sendmsg), SCMP_SYS(close),
	SCMP_SYS(brk), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise), SCMP_SYS(exit),
	SCMP_SYS(exit_group), SCMP_SYS(rt_sigreturn), SCMP_SYS(restart_syscall)};
static const int maker_calls[] = {SCMP_SYS(bind), SCMP_SYS(listen)};
/* What a maker sets, level and option; with its capabilities there would be more. */
static const int maker_options[][2] = {{SOL_SOCKET, SO_REUSEADDR}, {SOL_SOCKET, SO_REUSEPORT},
	{SOL_SOCKET, SO_MARK}, {IPPROTO_IP, IP_PKTINFO}, {IPPROTO_IPV6, IPV6_V6ONLY},
	{IPPROTO_IPV6, IPV6_FREEBIND}, {IPPROTO_IPV6, IPV6_RECVPKTINFO}};
static const int looker_calls[] = {SCMP_SYS(openat), SCMP_SYS(getdents64), SCMP_SYS(readlinkat),
	SCMP_SYS(read), SCMP_SYS(fstat), SCMP_SYS(newfstatat), SCMP_SYS(fcntl), SCMP_SYS(lseek)};
static const int reach_calls[] = {
	SCMP_SYS(openat2), SCMP_SYS(fstat), SCMP_SYS(newfstatat), SCMP_SYS(connect)};
/* A kernel without IPv6 is asked nevertheless. */
static const int internet[] = {AF_INET, AF_INET6};
static const int local[] = {AF_UNIX};

static const struct list lists[] = {
	{"broker", SCMP_ACT_ERRNO(EPERM), broker_calls, N(broker_calls), internet, N(internet)},
	{"maker", SCMP_ACT_KILL_PROCESS, maker_calls, N(maker_calls), internet, N(internet)},
	{"looker", SCMP_ACT_KILL_PROCESS, looker_calls, N(looker_calls), NULL, 0},
	{"reach", SCMP_ACT_KILL_PROCESS, reach_calls, N(reach_calls), local, N(local)},
};

/* Memory that can be executed is never made. */
static int allow(scmp_filter_ctx ctx, int call)
{
	return call == SCMP_SYS(mmap) || call == SCMP_SYS(mprotect)
		       ? seccomp_rule_add(ctx, SCMP_ACT_ALLOW, call, 1,
				 SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0))
		       : seccomp_rule_add(ctx, SCMP_ACT_ALLOW, call, 0);
}

static int fill(scmp_filter_ctx ctx, const struct list *l)
{
	int r = allow(ctx, SCMP_SYS(mmap));
	for (size_t i = 0; r == 0 && i < l->n_calls; i++)
		r = allow(ctx, l->calls[i]);
	for (size_t i = 0; r == 0 && l->calls != broker_calls && i < N(child_calls); i++)
		r = allow(ctx, child_calls[i]);
	for (size_t i = 0; r == 0 && l->calls == maker_calls && i < N(maker_options); i++)
		r = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(setsockopt), 2,
			SCMP_A1_32(SCMP_CMP_EQ, (scmp_datum_t)maker_options[i][0]),
			SCMP_A2_32(SCMP_CMP_EQ, (scmp_datum_t)maker_options[i][1]));
	for (size_t i = 0; r == 0 && i < l->n_families; i++)
		r = seccomp_rule_add(ctx, SCMP_ACT_ALLOW, SCMP_SYS(socket), 1,
			SCMP_A0_32(SCMP_CMP_EQ, (scmp_datum_t)l->families[i]));
	return r;
}

static int write_code(FILE *out, const struct list *l, int fd)
{
	struct sock_filter code[BPF_MAXINSNS];
	const ssize_t n = pread(fd, code, sizeof(code), 0);
	if (n <= 0 || (size_t)n % sizeof(*code))
		return -1;
	fprintf(out, "static const struct sock_filter %s[] = {\n", l->name);
	for (size_t i = 0; i < (size_t)n / sizeof(*code); i++)
		fprintf(out, "\t{0x%x, %u, %u, 0x%x},\n", code[i].code, code[i].jt, code[i].jf,
			code[i].k);
	fprintf(out, "};\nconst struct ward_net_filter ward_filter_%s = {%s, %zu};\n", l->name,
		l->name, (size_t)n / sizeof(*code));
	return 0;
}

/* libseccomp gives its program to a descriptor alone. */
static int write_list(FILE *out, const struct list *l)
{
	scmp_filter_ctx ctx = seccomp_init(l->otherwise);
	int fd = memfd_create(l->name, MFD_CLOEXEC);
	int r = ctx && fd >= 0 ? fill(ctx, l) : -1;
	if (r == 0)
		r = seccomp_export_bpf(ctx, fd);
	if (r == 0)
		r = write_code(out, l, fd);
	if (fd >= 0)
		close(fd);
	seccomp_release(ctx);
	return r;
}

int main(int argc, char **argv)
{
	FILE *out = argc == 2 ? fopen(argv[1], "we") : NULL;
	if (!out)
		return 1;
	/* libseccomp takes no more actions than the kernel it runs on has: that of who builds, or
	 * none under an emulator. Level 3 has KILL_PROCESS; the kernel that loads the program has
	 * it, too. */
	if (seccomp_api_set(3) < 0)
		return 1;
	fprintf(out, "#include <linux/filter.h>\n#include \"enforcer/net/setup/filters.h\"\n");
	for (size_t i = 0; i < N(lists); i++) {
		if (write_list(out, &lists[i]) < 0) {
			fprintf(stderr, "the filter of the %s cannot be made\n", lists[i].name);
			return 1;
		}
	}
	return ferror(out) || fclose(out) != 0;
}
