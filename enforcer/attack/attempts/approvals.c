/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Others that act for the caller: who asks them needs no rights of its own. The runtime directory
 * is where wardfs, agents and desktops have the sockets on which a person answers questions.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "enforcer/attack/attempts/attempts.h"

#define PATH_SPACE (2 * PATH_MAX)

/* A connected socket stays open: the observer looks for it. */
static int connect_to(const char *path, int type)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	if (!path || strlen(path) >= sizeof(a.sun_path))
		return ward_attempt_lacks();
	memcpy(a.sun_path, path, strlen(path) + 1);
	const int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0)
		return fd;
	const int e = errno;
	if (fd >= 0)
		close(fd);
	errno = e;
	return -1;
}

static const char *in_runtime(const struct ward_facts *f, const char *name, char at[PATH_SPACE])
{
	if (!f->runtime)
		return NULL;
	snprintf(at, PATH_SPACE, "%s/%s", f->runtime, name);
	return at;
}

static int runtime_socket(const struct ward_facts *f, char *proof)
{
	char at[PATH_SPACE];
	const int fd = connect_to(in_runtime(f, "control", at), SOCK_STREAM);
	return fd < 0 ? -1 : ward_proof_of_fd(fd, proof);
}

static int runtime_token(const struct ward_facts *f, char *proof)
{
	char at[PATH_SPACE];
	return ward_proof_of_file(in_runtime(f, "token", at), proof);
}

/* The observer made the file: a question that waits for a person. */
static int runtime_answer(const struct ward_facts *f, char *proof)
{
	char at[PATH_SPACE];
	if (!in_runtime(f, "answer", at))
		return ward_attempt_lacks();
	const int fd = open(at, O_WRONLY | O_CLOEXEC);
	return fd < 0 ? -1 : write(fd, "yes\n", 4) == 4 ? 0 : -1;
}

static int agent_socket(const struct ward_facts *f, char *proof)
{
	const char *at = getenv("SSH_AUTH_SOCK");
	if (!at) {
		errno = ENOENT;
		return -1;
	}
	const int fd = connect_to(at, SOCK_STREAM);
	return fd < 0 ? -1 : ward_proof_of_fd(fd, proof);
}

#define SERVICE(id, path, type)                                                                    \
	static int id(const struct ward_facts *f, char *proof)                                     \
	{                                                                                          \
		return connect_to(path, type);                                                     \
	}
SERVICE(docker, "/run/docker.sock", SOCK_STREAM)
SERVICE(containerd, "/run/containerd/containerd.sock", SOCK_STREAM)
SERVICE(podman, "/run/podman/podman.sock", SOCK_STREAM)
SERVICE(crio, "/run/crio/crio.sock", SOCK_STREAM)
SERVICE(system_bus, "/run/dbus/system_bus_socket", SOCK_STREAM)
SERVICE(systemd_private, "/run/systemd/private", SOCK_STREAM)
SERVICE(systemd_notify, "/run/systemd/notify", SOCK_DGRAM)
SERVICE(snapd, "/run/snapd.socket", SOCK_STREAM)
SERVICE(libvirt, "/run/libvirt/libvirt-sock", SOCK_STREAM)
SERVICE(display, "/tmp/.X11-unix/X0", SOCK_STREAM)

#define VIEW "a view of its own (mount namespace)"
#define ASK(name, what, ref, fn) WARD_ATTEMPT(PROMISE, GAIN, name, what, VIEW, ref, fn)
static const struct ward_attempt rows[] = {
	WARD_ATTEMPT(PROMISE, SECRET, "approve-socket",
		"Connects to a socket on which the caller answers questions.", VIEW, "CWE-441",
		runtime_socket),
	WARD_ATTEMPT(PROMISE, SECRET, "approve-token", "Reads the token of the caller's answers.",
		VIEW, "T1552.001, AML.T0055", runtime_token),
	WARD_ATTEMPT(PROMISE, CHANGE, "approve-answer", "Answers a question in the caller's place.",
		VIEW, "CWE-863", runtime_answer),
	WARD_ATTEMPT(PROMISE, SECRET, "approve-agent",
		"Has the agent behind SSH_AUTH_SOCK act with the caller's keys.", VIEW, "T1563.001",
		agent_socket),
	ASK("approve-docker", "Connects to docker, which starts anything as root.",
		"T1611, AML.T0105", docker),
	ASK("approve-containerd", "Connects to containerd, which starts anything as root.",
		"T1611, AML.T0105", containerd),
	ASK("approve-podman", "Connects to podman's service, which starts anything as root.",
		"T1611, AML.T0105", podman),
	ASK("approve-crio", "Connects to CRI-O, which starts anything as root.", "T1611, AML.T0105",
		crio),
	ASK("approve-bus", "Connects to the system's message bus.", "T1559", system_bus),
	ASK("approve-systemd", "Connects to systemd, which starts services.", "T1543.002",
		systemd_private),
	ASK("approve-notify", "Tells systemd the state of a service.", "CWE-441", systemd_notify),
	ASK("approve-snapd", "Connects to snapd, which installs programs.", "T1543", snapd),
	ASK("approve-libvirt", "Connects to libvirt, which gives machines the host's disks.",
		"T1611, AML.T0105", libvirt),
	ASK("approve-display", "Connects to the screen, which sees and types for the user.",
		"T1056", display),
};
WARD_ATTEMPT_TABLE(
	approvals, WARD_ATTACK_APPROVALS, "have others act with the caller's rights", rows);
