/* SPDX-License-Identifier: Apache-2.0 */
#include "enforcer/attack/servers.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* Where the victim finds its page and its file. */
#define PAGE_FD 10
#define FILE_FD 11
/* Where it counts signals. */
#define SIGNALS_AT 2048

/* TCP, UDP, a socket outside, an abstract one, one in the runtime directory, an agent's */
#define SERVERS 6

/* --- servers --- */
static int listen_tcp(struct ward_facts *f, int type, uint64_t *port)
{
	struct sockaddr_in6 a = {.sin6_family = AF_INET6};
	socklen_t len = sizeof(a);
	const int no = 0, fd = socket(AF_INET6, type | SOCK_CLOEXEC, 0);

	(void)f;
	(void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof(no));
	if (fd < 0 || bind(fd, (struct sockaddr *)&a, len) < 0 ||
		(type == SOCK_STREAM && listen(fd, 16) < 0) ||
		getsockname(fd, (struct sockaddr *)&a, &len) < 0)
		return -1;
	*port = ntohs(a.sin6_port);
	return fd;
}

static int listen_unix(const char *path, const char *abstract)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	socklen_t len = sizeof(a);
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (path && strlen(path) >= sizeof(a.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	if (path) {
		memcpy(a.sun_path, path, strlen(path) + 1);
	} else if (abstract) {
		memcpy(a.sun_path + 1, abstract, strlen(abstract));
		len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(abstract));
	}
	if (fd < 0 || bind(fd, (struct sockaddr *)&a, len) < 0 || listen(fd, 16) < 0)
		return -1;
	return fd;
}

static char *other_address(void)
{
	struct ifaddrs *all = NULL;
	char text[INET_ADDRSTRLEN] = "";

	if (getifaddrs(&all) < 0)
		return NULL;
	for (const struct ifaddrs *i = all; i && !*text; i = i->ifa_next)
		if (i->ifa_addr && i->ifa_addr->sa_family == AF_INET &&
			!(i->ifa_flags & IFF_LOOPBACK))
			inet_ntop(AF_INET,
				&((const struct sockaddr_in *)(const void *)i->ifa_addr)->sin_addr,
				text, sizeof(text));
	freeifaddrs(all);
	return *text ? strdup(text) : NULL;
}

static _Noreturn void serve(const int fds[SERVERS], const char *const secrets[SERVERS])
{
	struct pollfd p[SERVERS];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "attack-servers");
	(void)signal(SIGPIPE, SIG_IGN);
	for (int i = 0; i < SERVERS; i++)
		p[i] = (struct pollfd){.fd = fds[i], .events = POLLIN};
	while (poll(p, SERVERS, -1) > 0)
		for (int i = 0; i < SERVERS; i++) {
			struct sockaddr_storage from;
			socklen_t len = sizeof(from);
			char byte;
			if (!(p[i].revents & POLLIN))
				continue;
			if (i == 1) {
				if (recvfrom(fds[i], &byte, 1, 0, (struct sockaddr *)&from, &len) >=
					0)
					(void)sendto(fds[i], secrets[i], strlen(secrets[i]), 0,
						(struct sockaddr *)&from, len);
				continue;
			}
			const int c = accept4(fds[i], NULL, NULL, SOCK_CLOEXEC);
			if (c < 0)
				continue;
			(void)!write(c, secrets[i], strlen(secrets[i]));
			close(c);
		}
	_exit(0);
}

int ward_servers_start(
	struct ward_facts *f, const char *base, const struct ward_serve *secrets, pid_t *ret)
{
	if (asprintf(&f->socket, "%s/socket", base) < 0 ||
		asprintf(&f->abstract, "%s-abstract", f->token) < 0)
		return -1;
	char agent[256], runtime[256];
	snprintf(agent, sizeof(agent), "%s/agent", base);
	snprintf(runtime, sizeof(runtime), "%s/control", f->runtime ? f->runtime : "");
	const int fds[SERVERS] = {listen_tcp(f, SOCK_STREAM, &f->tcp),
		listen_tcp(f, SOCK_DGRAM, &f->udp), listen_unix(f->socket, NULL),
		listen_unix(NULL, f->abstract), listen_unix(agent, NULL),
		f->runtime ? listen_unix(runtime, NULL) : -1};
	for (int i = 0; i < SERVERS - !f->runtime; i++)
		if (fds[i] < 0)
			return -1;
	(void)chmod(f->socket, 0777);
	(void)chmod(agent, 0777);
	if (f->runtime)
		(void)chmod(runtime, 0777);
	setenv("SSH_AUTH_SOCK", agent, 1);
	f->address = other_address();
	*ret = fork();
	if (*ret == 0) {
		const char *const texts[SERVERS] = {secrets->tcp, secrets->udp, secrets->path,
			secrets->abstract, secrets->agent, secrets->runtime};
		serve(fds, texts);
	}
	for (int i = 0; i < SERVERS; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	return *ret < 0 ? -1 : 0;
}

/* --- the victim --- */
static unsigned *signals;
static void count(int number)
{
	(void)number;
	(*signals)++;
}

_Noreturn void ward_victim_main(void)
{
	char *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, PAGE_FD, 0);
	const struct sigaction sa = {.sa_handler = count, .sa_flags = SA_RESTART};

	if (page == MAP_FAILED)
		_exit(1);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signals = (unsigned *)(void *)(page + SIGNALS_AT);
	sigaction(SIGUSR1, &sa, NULL);
	/* Where the page lies, for the observer. */
	const uint64_t at = (uint64_t)(uintptr_t)page;
	if (write(1, &at, sizeof(at)) != sizeof(at))
		_exit(1);
	for (;;)
		pause();
}

static int keep_in_memory(const char *text, size_t size)
{
	const int fd = memfd_create("attack", 0);
	if (fd < 0 || ftruncate(fd, (off_t)size) < 0 ||
		pwrite(fd, text, strlen(text), 0) != (ssize_t)strlen(text))
		return -1;
	return fd;
}

int ward_victim_start(struct ward_facts *f, const char *argument, const char *environment,
	const char *memory, const char *file, char **ret_page)
{
	char a[64], e[64];
	int says[2];
	const int page = keep_in_memory(memory, 4096), secret = keep_in_memory(file, 64);

	if (page < 0 || secret < 0 || pipe2(says, O_CLOEXEC) < 0)
		return -1;
	*ret_page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, page, 0);
	const pid_t pid = *ret_page == MAP_FAILED ? -1 : fork();
	if (pid < 0)
		return -1;
	if (pid == 0) {
		snprintf(a, sizeof(a), "secret=%s", argument);
		snprintf(e, sizeof(e), "secret=%s", environment);
		char victim[] = "wardfs-attack", word[] = "victim";
		char *argv[] = {victim, word, a, NULL}, *envp[] = {e, NULL};
		dup2(says[1], 1);
		dup2(page, PAGE_FD);
		dup2(secret, FILE_FD);
		execve("/proc/self/exe", argv, envp);
		_exit(127);
	}
	close(says[1]);
	close(page);
	close(secret);
	const bool said = read(says[0], &f->memory, sizeof(f->memory)) == sizeof(f->memory);
	close(says[0]);
	f->victim = (uint64_t)pid;
	f->file = FILE_FD;
	return said ? 0 : -1;
}
