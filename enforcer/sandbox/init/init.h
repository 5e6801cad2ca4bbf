/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wardfs-init from the inside: stage 0 makes namespaces and mounts, then clones pid 1 and exits;
 * pid 1 finishes, starts the command and watches. Single-threaded. Every function here returns 0
 * or a negative errno with text in err.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

#include "enforcer/base/err.h"
#include "enforcer/base/walk.h"
#include "enforcer/sandbox/blueprint.h"
#include "enforcer/sandbox/exec_table.h"
#include "enforcer/sandbox/probe.h"

/* One more command, as pid 1 knows it. */
struct ward_init_exec {
	uint32_t id;
	pid_t pid;    /* 0: free */
	int report;   /* what its process says until it was executed; -1 */
	int pty;      /* controlling side on its way to the supervisor; -1 */
	bool started; /* it was executed */
};
#define WARD_INIT_EXEC_NONE ((struct ward_init_exec){.report = -1, .pty = -1})

/* A tree is seen at its path, at its `at`, and beneath each further place of the tree above it. */
#define WARD_INIT_SEEN_MAX (WARD_TREES_MAX + 1)
#define WARD_INIT_NESTED_MAX (WARD_TREES_MAX * WARD_INIT_SEEN_MAX)

struct ward_init {
	struct ward_blueprint blueprint;
	mode_t umask;		    /* the caller's; the command gets it back */
	int fuse[WARD_TREES_MAX];   /* /dev/fuse of each tree, -1: none */
	int nested[WARD_TREES_MAX]; /* mounts of trees beneath others, detached; -1: none */
	uint64_t nested_ids[WARD_INIT_NESTED_MAX]; /* of these, once attached: STATX_MNT_ID */
	size_t n_nested;
	int root;	  /* O_PATH of the new root */
	const char *view; /* in pid 1: where that has what the command sees */
	int shut;	  /* in stage 0: the map of ids of mounts in which no socket answers; -1 */
	int tty;	  /* other side of the pty, pid 1's controlling terminal; -1 */
	int child;	  /* to the command's child: its reports, our go; -1: executed */
	/* With WARD_BLUEPRINT_TELLS; pid 1 lets go of it once the command's child is there. */
	struct ward_exec_table *told;
	int asks;      /* in pid 1: what the command's filter asks until it was executed; -1 */
	pid_t command; /* as seen inside */
	int starter;   /* in pid 1: to what starts further commands; -1 */
	pid_t starter_pid;
	struct ward_init_exec execs[WARD_BLUEPRINT_EXECS_MAX];
	int mount_table;	  /* in pid 1: /proc/self/mountinfo; -1: not watched */
	unsigned long *mount_ids; /* of our mounts in it, ends with 0 */
	uint32_t applied;	  /* set of ward_init_applied */
	uint32_t landlock;	  /* ABI that the command is under, 0: none */
	/* Controls of probes, as errno; -1: it never came to it. */
	int32_t mounted;  /* pid 1's mount of /proc */
	int32_t unshared; /* the user namespace that we made */
	int32_t outside;  /* blueprint.probe_outside, opened before the view was there */
};

/* --- messages.c: to and from the supervisor --- */
/* Sends a message of this type with n numbers and at most one descriptor (-1: none). */
int ward_init_tell(enum ward_init_type type, const uint32_t *v, size_t n, int fd) ward_must_check;
/* Sends FAILED. */
void ward_init_tell_failed(int code, enum ward_init_step step, const char *text);
/* Waits for a message {} of this type; -EPIPE when the supervisor is gone. */
int ward_init_hear(enum ward_init_type type) ward_must_check;

/* --- messages.c: from the command's child, or that of a further command, to pid 1 --- */
/* What it says: one message of this size each. */
enum ward_init_report_kind {
	WARD_INIT_REPORT_NONE = 0,
	WARD_INIT_CANNOT,
	WARD_INIT_TRIED,
	WARD_INIT_STARTER, /* with the socket to the starter; error is its pid */
};
struct ward_init_report {
	uint32_t kind;
	/* CANNOT: it goes no further */
	int32_t error; /* positive errno */
	uint32_t step; /* enum ward_init_step */
	char text[WARD_ERR_TEXT_MAX];
	/* TRIED: what the probes answered, [p] of probe p */
	struct ward_probe_result results[WARD_PROBE_COUNT_];
};
/* Sends a report with a descriptor (-1: none); false: nobody is there. */
bool ward_init_say(int fd, const struct ward_init_report *r, int with);
/* A report and the descriptor that may be with it. Returns the bytes, 0 at end of file. */
ssize_t ward_init_hear_report(int fd, struct ward_init_report *ret, int *ret_fd) ward_must_check;

/* --- install_filter.c --- */
/* Puts a classic BPF program in front of the calling process. What to say where it fails: */
#define WARD_INIT_NO_FILTER                                                                        \
	"install the system call filter (fix: a kernel with CONFIG_SECCOMP_FILTER)"
int ward_init_filter(const void *filter, size_t len) ward_must_check;
/* The same with a listener for what the filter asks about (seccomp_unotify(2)). -EBUSY: there is
 * one. */
int ward_init_filter_asking(const void *filter, size_t len, int *ret_listener) ward_must_check;

/* --- mounts.c: in stage 0 --- */
/* A private mount namespace is there; assembles the new root and mounts /dev/fuse of the trees. */
int ward_init_mounts(struct ward_init *in, struct ward_err *err) ward_must_check;

/* Mounts the detached mount on the directory or file at; path is for people. */
int ward_init_attach(int mount, int at, const char *path, struct ward_err *err) ward_must_check;
/* O_PATH of path as seen from root; a descriptor of the caller's or a negative errno. */
int ward_init_open_inside(int root, const char *path) ward_must_check;
/* A detached clone of an attached mount, or -1. By descriptor: a path would be a lookup in a file
 * system that nobody may serve yet. */
int ward_init_clone_tree(int mount) ward_must_check;

/* --- shut.c: in stage 0 --- */
/* As root: in->shut, and WARD_INIT_SHUT while no mount was left open. 0, or a negative errno. */
int ward_init_shut_begin(struct ward_init *in) ward_must_check;
/* Shuts this detached mount and those on it, if that can be done. */
void ward_init_shut(struct ward_init *in, int mount);
void ward_init_shut_end(struct ward_init *in);

/* --- call.c: with WARD_BLUEPRINT_CALLS --- */
/* In pid 1, before the engine: returns where the container's pid 1 asks, or a negative errno. */
int ward_init_call_listen(void) ward_must_check;
/* Once that is readable: sends the descriptors. Returns a descriptor that hangs up with the
 * container, or a negative errno. */
int ward_init_call_answer(int listener, const int *fds, size_t n) ward_must_check;
/* In the container: takes them, as numbers from 0 on. */
int ward_init_call(struct ward_err *err) ward_must_check;

/* --- engine.c: with WARD_BLUEPRINT_ENGINE --- */
/* In pid 1, once all is mounted: starts the engine, and lives as long as what that started. Returns
 * the exit status. */
int ward_init_engine(struct ward_init *in);
/* As the container's pid 1, with the blueprint read: descriptors and controls of probes from pid 1;
 * the command's own id; drops everything. */
int ward_init_inside(struct ward_init *in, struct ward_err *err) ward_must_check;
/* Becomes the engine; with the rights that a caller still has. */
_Noreturn void ward_init_engine_execute(char *const *argv);
/* Why the engine ended, for people: what it said last, else its status. */
const char *ward_init_engine_why(int status);
/* In the container: a user namespace in which its user 0 has the command's id. */
int ward_init_own_id(const struct ward_init *in, struct ward_err *err) ward_must_check;
/* Takes the entries of the engine's root out. */
void ward_init_forget_outer(struct ward_blueprint *p);

/* What the container's pid 1 cannot find out by itself; both are the same program. */
struct ward_init_handed {
	int32_t mounted, unshared, outside; /* controls of probes */
	uint32_t umask;
};

/* --- talk.c: with WARD_BLUEPRINT_FOREIGN; files of a directory that both sides see --- */
void ward_init_talk_pause(void);
/* Appears whole, by a rename. */
int ward_init_talk_put(
	const char *dir, const char *name, const void *data, size_t len) ward_must_check;
/* 1: read whole, 0: not there yet, or a negative errno. */
int ward_init_talk_get(const char *dir, const char *name, void *ret, size_t len) ward_must_check;

/* --- relay.c: with WARD_BLUEPRINT_FOREIGN --- */
/* In the command's child, in place of the command: starts the engine. fd: to pid 1. */
_Noreturn void ward_init_relay(struct ward_init *in, int fd);
/* In what the starter forked: one more command in the container. */
_Noreturn void ward_init_relay_exec(
	const struct ward_init *in, const struct ward_blueprint_exec *e);

/* --- foreign.c: with WARD_BLUEPRINT_FOREIGN --- */
/* In the container: as its pid 1, and before a further command. They return the exit status. */
int ward_init_foreign_inside(struct ward_init *in);
int ward_init_foreign_command(struct ward_init *in, char **argv);

/* --- nested.c: in pid 1 --- */
/* Once the trees are served: mounts those that lie beneath others, wherever these are seen. */
int ward_init_nested(struct ward_init *in, struct ward_err *err) ward_must_check;

/* --- files.c: in pid 1 --- */
/* Once the trees are served: mounts the files of one of them that show singly. */
int ward_init_files(struct ward_init *in, struct ward_err *err) ward_must_check;

/* --- standing.c: in pid 1 --- */
/* Once all is mounted: takes down which mounts are ours, if one of them could be lost. */
int ward_init_note_mounts(struct ward_init *in, struct ward_err *err) ward_must_check;
/* With in->mount_table: are they all there? False also where that is unknown. */
bool ward_init_mounts_stand(const struct ward_init *in);

/* --- root.c: in pid 1 --- */
/* Own /proc, then the new root becomes the root and the host's is let go. */
int ward_init_pivot(struct ward_init *in, struct ward_err *err) ward_must_check;
/* Covers what /proc says about the host. */
int ward_init_mask_proc(struct ward_init *in, struct ward_err *err) ward_must_check;

/* --- ids.c --- */
/* Rootless, in stage 0: the namespaces, with the owner's single id mapped. */
int ward_init_unshare_rootless(struct ward_init *in, struct ward_err *err) ward_must_check;
/* As root, in pid 1: the owner's rights, then the namespaces that the owner owns. */
int ward_init_unshare_root(struct ward_init *in, struct ward_err *err) ward_must_check;
/* Once the supervisor has put pid 1 into the session's control groups: they are the root then. */
int ward_init_unshare_cgroup(const struct ward_init *in, struct ward_err *err) ward_must_check;
/* As root, once the supervisor has written the maps. */
int ward_init_become_agent(struct ward_init *in, struct ward_err *err) ward_must_check;
/* Host name, loopback, keyring, message queues, and no more user namespaces. */
int ward_init_furnish(struct ward_init *in, struct ward_err *err) ward_must_check;
/* Gives up every capability forever; no_new_privs; non-dumpable. */
int ward_init_drop(struct ward_err *err) ward_must_check;

/* --- precedence.c: in stage 0 --- */
int ward_init_no_precedence(struct ward_err *err) ward_must_check;

/* --- netns.c --- */
/* With WARD_BLUEPRINT_WIRE: the user and network namespace, to the supervisor. */
int ward_init_hand_out_namespaces(const struct ward_init *in, struct ward_err *err) ward_must_check;

/* --- landlock.c: in the command's child --- */
int ward_init_landlock(const struct ward_init *in, struct ward_err *err) ward_must_check;

/* --- exec_list.c: with WARD_BLUEPRINT_LISTED --- */
/* In pid 1: can a list of programs be held here? */
int ward_init_programs_held(const struct ward_init *in, struct ward_err *err) ward_must_check;
/* In the command's child, behind Landlock: closes what Landlock does not see. */
int ward_init_programs_close(const struct ward_init *in, struct ward_err *err) ward_must_check;

/* --- pty.c --- */
/* Makes the pty; *ret_master is the caller's to send away. */
int ward_init_pty(struct ward_init *in, int *ret_master, struct ward_err *err) ward_must_check;

/* --- devices.c: in the child --- */
/* Where there is a view: 0, 1 and 2 that are /dev/null or its like become those of the view. */
int ward_init_own_devices(uint32_t layers, struct ward_err *err) ward_must_check;

/* --- given.c: in the command's child, once it is confined; in what the starter forked --- */
/* A description as of EXEC. */
int ward_init_read_description(int fd, struct ward_blueprint_exec *ret) ward_must_check;
/* What pid 1 sends the child: a byte of these. With GIVEN come a description and 0, 1, 2. */
enum ward_init_go { WARD_INIT_GO_ON = 1, WARD_INIT_GIVEN };
/*
 * Waits for the word to go on, and takes before that what the command is given in place of argv,
 * envp, directory and descriptors of the blueprint. Changes *p. -EPIPE: pid 1 is gone.
 */
int ward_init_wait_given(int fd, struct ward_blueprint *p, struct ward_err *err) ward_must_check;

/* --- execute.c --- */
/* As execvp(3) of argv[0] with PATH of envp, but a script without "#!" stays an error. Returns only
 * on failure. told: where it says what it tries; NULL: nowhere. */
int ward_init_execute(const struct ward_blueprint *p, struct ward_exec_table *told);

/* --- command.c --- */
/* Forks the command's child; in->command and in->child are set. It confines itself, probes,
 * reports, and waits for a byte before it becomes the command. */
int ward_init_command(struct ward_init *in, struct ward_err *err) ward_must_check;
/* Limits and filter of a command alone, for one that nothing passed them on to. */
int ward_init_confine_again(const struct ward_init *in, struct ward_err *err) ward_must_check;

/* --- starter.c: in the command's child, once it is confined --- */
/* Forks the starter, a child of pid 1, without the descriptor asks; *ret_sock is pid 1's end. */
int ward_init_starter(
	struct ward_init *in, int asks, int *ret_sock, pid_t *ret_pid) ward_must_check;

/* --- warm.c: in the starter --- */
/* A walk through the trees. */
struct ward_init_warm {
	struct ward_walk walk;
	const char *paths[WARD_TREES_MAX]; /* of the blueprint's */
	uint64_t tops[WARD_TREES_MAX];
};
/* Then it is walk.h's, with &w->walk. */
void ward_init_warm_begin(struct ward_init_warm *w, const struct ward_blueprint *blueprint);

/* --- execs.c: in pid 1 --- */
/* The supervisor wants one more command. fds stay the caller's. */
void ward_init_exec_request(struct ward_init *in, uint32_t id, const int *fds, size_t n);
/* The starter says something, or is gone. reaped: a child that was just waited for; 0: none. */
void ward_init_exec_answer(struct ward_init *in, pid_t reaped);
/* The process of a command says something, or was executed. */
void ward_init_exec_report(struct ward_init_exec *x);
/* A child of pid 1 ended; returns whether it was one of these commands. */
bool ward_init_exec_reaped(struct ward_init *in, const siginfo_t *si);
void ward_init_exec_signal(const struct ward_init *in, uint32_t id, int sig);

/* --- probe.c: in the command's child, but for the first --- */
/* Opens a directory by path. 0 or a positive errno. */
int32_t ward_init_probe_open(const char *path);
/* Probes that work only without Landlock and filter, only without the filter, and with both. */
void ward_init_probe_unconfined(const struct ward_init *in, struct ward_init_report *r);
void ward_init_probe_unfiltered(const struct ward_init *in, struct ward_init_report *r);
void ward_init_probe_filtered(const struct ward_init *in, struct ward_init_report *r);

/* --- replayer.c: in pid 1, which has no rights any more --- */
/* With WARD_BLUEPRINT_REPLAY: forks the replayer, which takes WARD_INIT_FD_REPLAY. */
int ward_init_replayer(struct ward_init *in, struct ward_err *err) ward_must_check;

/* --- watch.c --- */
/* Watches command, lifelines and control until the end. Returns the exit status of pid 1. */
int ward_init_watch(struct ward_init *in);
