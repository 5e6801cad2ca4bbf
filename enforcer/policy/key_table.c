/* SPDX-License-Identifier: Apache-2.0 */
/* The one table of keys: a row says all of a key but what its value does. */
#include <assert.h>

#include "enforcer/modes/table/mode.h"
#include "enforcer/policy/internal.h"

/*
 * The words of an enum: `WORDS_OF(X)` lists enumerators and words, the strictest first. An
 * enumerator without a word stops the build (-Werror=switch), and so does one out of order.
 */
#define AS_WORD(value, word) [value] = (word),
#define AS_CASE(value, word) case value:
#define AS_ONE(value, word) +1
#define TIED(name, type, WORDS_OF)                                                                 \
	static const char *const name[] = {WORDS_OF(AS_WORD) NULL};                                \
	static_assert(sizeof(name) / sizeof(*name) == 1 WORDS_OF(AS_ONE), #name " and " #type);    \
	__attribute__((unused)) static inline void name##_has_all(enum type v)                     \
	{                                                                                          \
		switch (v) {                                                                       \
			WORDS_OF(AS_CASE)                                                          \
			break;                                                                     \
		}                                                                                  \
	}

/* clang-format off */
#define HARDLINKS(X) X(WARD_HARDLINKS_DENY, "deny") X(WARD_HARDLINKS_READ, "read") \
	X(WARD_HARDLINKS_ALLOW, "allow")
#define CHANGES(X) X(WARD_CHANGES_DISCARD, "discard") X(WARD_CHANGES_REVIEW, "review") \
	X(WARD_CHANGES_DIRECT, "direct")
#define HOME(X) X(WARD_HOME_NONE, "none") X(WARD_HOME_TMPFS, "tmpfs") \
	X(WARD_HOME_PROJECT, "project")
#define VIEW(X) X(WARD_VIEW_MINIMAL, "minimal") X(WARD_VIEW_READONLY, "readonly")
#define PULL(X) X(WARD_PULL_NEVER, "never") X(WARD_PULL_MISSING, "missing") \
	X(WARD_PULL_REGISTRY, "registry")
#define SECCOMP(X) X(WARD_LIST_NO_EXEC, "no-exec") X(WARD_LIST_STRICT, "strict") \
	X(WARD_LIST_DEFAULT, "default")
#define PYTHON(X) X(WARD_PYTHON_RESTRICTED, "restricted") X(WARD_PYTHON_ANY, "any")
#define NET(X) X(WARD_NET_NONE, "none") X(WARD_NET_ALLOWLIST, "allowlist") \
	X(WARD_NET_PROXY, "proxy") X(WARD_NET_HOST, "host")
#define SNI(X) X(WARD_SNI_REQUIRE, "require") X(WARD_SNI_LOG, "log") X(WARD_SNI_OFF, "off")
#define LOG(X) X(WARD_LOG_IO, "io") X(WARD_LOG_OPENS, "opens") X(WARD_LOG_DENIALS, "denials")
#define HASH(X) X(WARD_HASH_ALL, "all") X(WARD_HASH_WRITES, "writes") X(WARD_HASH_NONE, "none")
#define FAILURE(X) X(WARD_ON_FAILURE_STOP, "stop") X(WARD_ON_FAILURE_DENY, "deny")
#define SYNC(X) X(WARD_SYNC_RECORD, "record") X(WARD_SYNC_BATCH, "batch") \
	X(WARD_SYNC_CLOSE, "close")
#define TRUST(X) X(WARD_TRUST_LOW, "low") X(WARD_TRUST_MEDIUM, "medium") \
	X(WARD_TRUST_HIGH, "high")
#define REDACT(X) X(WARD_REDACT_ARGV, "argv") X(WARD_REDACT_SNI, "sni") \
	X(WARD_REDACT_NOTHING, "none")
#define WRITER(X) X(WARD_WRITER_SYSTEM, "system") X(WARD_WRITER_OWN, "own")
/* clang-format on */

TIED(hardlinks, ward_hardlinks, HARDLINKS)
TIED(changes, ward_changes, CHANGES)
TIED(home, ward_home, HOME)
TIED(view, ward_view, VIEW)
TIED(pull, ward_pull, PULL)
TIED(seccomp, ward_seccomp_list, SECCOMP)
TIED(python, ward_python, PYTHON)
TIED(net, ward_net, NET)
TIED(sni, ward_sni, SNI)
TIED(audit_log, ward_audit_log, LOG)
TIED(audit_hash, ward_audit_hash, HASH)
TIED(on_failure, ward_on_failure, FAILURE)
TIED(audit_sync, ward_audit_sync, SYNC)
TIED(trust, ward_trust, TRUST)
TIED(redact, ward_redact, REDACT)
TIED(audit_writer, ward_audit_writer, WRITER)

/* Of two words the second one is true. */
static const char *const flag[] = {"no", "yes", NULL};
static const char *const require[] = {"yes", "where-available", NULL};
/* No enum stands for this: nothing but the last is ready. */
static const char *const keep_container[] = {"no", "yes", NULL};

/* clang-format off */
/* A member, and how its type is filled; no other type compiles. */
#define FILL_OF(member)                                                                            \
	_Generic((member),                                                                         \
		uint64_t: WARD_FILL_NUMBER,                                                        \
		bool: WARD_FILL_FLAG,                                                              \
		unsigned: WARD_FILL_WORD,                                                          \
		char *: WARD_FILL_TEXT,                                                            \
		const struct ward_mode *: WARD_FILL_MODE,                                          \
		struct ward_proxy: WARD_FILL_PROXY,                                                \
		struct ward_word_set: WARD_FILL_WORDS,                                             \
		struct ward_strings: WARD_FILL_STRINGS)
#define INTO_OF(type, member) {FILL_OF(((struct type *)0)->member), offsetof(struct type, member), NULL}
#define INTO(member) INTO_OF(ward_settings, member)
#define INTO_TREE(member) INTO_OF(ward_tree, member)
/* These speak of a structure of their own: the function reads them. */
#define READ(function) {WARD_FILL_READER, 0, function}
#define LIMIT_OF(key) {WARD_FILL_READER, offsetof(struct ward_quota, limits[key]), ward_quota_read}
#define READ_INTO(member, function) {WARD_FILL_READER, offsetof(struct ward_settings, member), function}
/* No member: rules, or what one file asks for by its type. */
#define NOWHERE {WARD_FILL_NONE, 0, NULL}
/* clang-format on */

#define BASE_ONLY WARD_BY_BASE
#define FLOOR_ONLY WARD_BY_FLOOR
#define FROM_HOST (WARD_BY_BASE | WARD_BY_FLOOR)
#define FROM_ANY (WARD_BY_BASE | WARD_BY_FLOOR | WARD_BY_PROJECT)

#define ROW(SEC, key, TYPE, rep, wds, MERGE, who, LIVE, rdy, def, text, ...)                       \
	{                                                                                          \
		.section = &ward_sections[WARD_SECTION_##SEC], .name = (key),                      \
		.type = WARD_KEY_TYPE_##TYPE, .repeats = (rep), .words = (wds),                    \
		.merge = WARD_MERGE_##MERGE, .by = (who), .live = WARD_LIVE_##LIVE,                \
		.ready = (rdy), .fallback = (def), .into = __VA_ARGS__, .doc = (text)              \
	}
#define KEY(SEC, key, TYPE, MERGE, who, LIVE, READY, def, to, text)                                \
	ROW(SEC, key, TYPE, false, NULL, MERGE, who, LIVE, WARD_READY_##READY, def, text, to)
#define LIST(SEC, key, TYPE, MERGE, who, LIVE, READY, def, to, text)                               \
	ROW(SEC, key, TYPE, true, NULL, MERGE, who, LIVE, WARD_READY_##READY, def, text, to)
#define WORD(SEC, key, wds, MERGE, who, LIVE, rdy, def, to, text)                                  \
	ROW(SEC, key, WORD, false, wds, MERGE, who, LIVE, rdy, def, text, to)
#define WORDS(SEC, key, wds, MERGE, who, LIVE, rdy, def, to, text)                                 \
	ROW(SEC, key, WORD, true, wds, MERGE, who, LIVE, rdy, def, text, to)
/* clang-format off */
#define RULE_OF(SEC, key, TYPE, VERB, merges, who, text)                                           \
	{                                                                                          \
		.section = &ward_sections[WARD_SECTION_##SEC], .name = (key),                      \
		.type = WARD_KEY_TYPE_##TYPE, .repeats = true, .verb = WARD_VERB_##VERB,           \
		.merge = WARD_MERGE_##merges, .by = (who), .live = WARD_LIVE_YES,                  \
		.ready = WARD_READY_ALL, .into = NOWHERE, .doc = (text)                            \
	}
#define RULE(SEC, key, VERB, text) RULE_OF(SEC, key, RULE, VERB, ADD, FROM_ANY, text)
#define LIFT(key, VERB, text) RULE_OF(LIFT, key, LIFT, VERB, BASE, BASE_ONLY, text)
/* clang-format on */
#define ALL WARD_READY_ALL

/* Section, key, type or words, merge, who sets it, live, machinery, default, member, what it says.
 */
const struct ward_key ward_keys[] = {
	KEY(POLICY, "version", VERSION, BASE, FROM_ANY, YES, ALL, NULL, NOWHERE,
		"The version of the language. Required."),
	KEY(POLICY, "extends", EXTENDS, BASE, BASE_ONLY, YES, ALL, NULL, NOWHERE,
		"A shipped profile, or a file beside this one. Its rules come before those of this "
		"file. One level."),
	/* The table of modes says which words are ready. */
	WORD(POLICY, "mode", ward_mode_words, MIN, FROM_HOST, NO, WARD_READY_NONE,
		WARD_DEFAULT_MODE, INTO(mode),
		"How wardfs isolates the command. `wardfs doctor` tells which modes work on this host."),
	WORD(POLICY, "trust", trust, MIN, FROM_HOST, NO, ALL, "medium", INTO(trust),
		"How far the owner trusts the command. `low` refuses the network of the host; mode `auto` "
		"weighs it."),
	KEY(POLICY, "name", TEXT, BASE, BASE_ONLY, YES, ALL, NULL, INTO(name),
		"What the trail calls the policy. Without it: the name of the file."),
	KEY(TREE, "source", TREE_SOURCE, BASE, BASE_ONLY, NO, ALL, NULL,
		READ(ward_tree_source_read),
		"The directory that is served; `.` is the project. Only /workspace may leave it "
		"out: then it serves the project."),
	KEY(TREE, "at", TREE_AT, BASE, BASE_ONLY, NO, ALL, "same", READ(ward_tree_at_read),
		"Where else the tree is seen. `same` is its path on the host; a tmpfs has none."),
	WORD(TREE, "changes", changes, MIN, FROM_HOST, NO, ALL, "direct", INTO_TREE(changes),
		"Where changes go: into the directory, to `wardfs review`, or nowhere once the session "
		"has ended. All trees of a session say the same."),
	WORD(TREE, "hardlinks", hardlinks, MIN, FROM_HOST, YES, ALL, "read", INTO_TREE(hardlinks),
		"The most that the session may do with a file that also has names outside the tree."),
	WORD(TREE, "acl", flag, MIN, FROM_HOST, NO, ALL, "no", INTO_TREE(acl),
		"POSIX ACLs can be read and set where an ordinary user starts the session. Then "
		"access(2) answers by mode bits alone (section ACLs)."),
	LIST(TREE, "seed", SEED, BASE, BASE_ONLY, NO, ALL, NULL, INTO_TREE(seed),
		"A line of a file that `run` makes in the tree where it is missing. Only in a "
		"directory of `~/.local/share/wardfs/agents`."),
	LIST(TREE, "seed-project", SEED, BASE, BASE_ONLY, NO, ALL, NULL, INTO_TREE(seed_project),
		"The same, added once for each project: to a file that lacks the first of these lines."),
	RULE(GUARD, "hide", HIDE, "The name does not exist for the agent."),
	RULE(GUARD, "deny", DENY, "The name is visible and cannot be opened."),
	RULE(GUARD, "read", READ, "The file can at most be read and executed."),
	RULE(GUARD, "append", APPEND, "The file can at most be read and appended to."),
	RULE(GUARD, "ask", ASK,
		"The file can be read. A person decides the rest (wardfs approve)."),
	RULE(GUARD, "noexec", NOEXEC,
		"The file cannot be executed. A tree that the pattern names as a whole is also "
		"mounted noexec."),
	RULE(GUARD, "secret", SECRET,
		"A file that was there before the session does not exist for the agent, unless git "
		"has committed what it holds. Section Secrets."),
	WORD(GUARD, "fold", flag, MAX, FROM_ANY, YES, ALL, "no", INTO(fold),
		"Guards match letters of both cases of ASCII. A tree on a file system that "
		"takes a.txt and A.TXT for one name needs it."),
	RULE(FILES, "hide", HIDE, "The name does not exist for the agent."),
	RULE(FILES, "deny", DENY, "The name is visible and cannot be opened."),
	RULE(FILES, "read", READ, "The file can be read and executed."),
	RULE(FILES, "write", WRITE, "Everything is allowed."),
	RULE(FILES, "append", APPEND,
		"The file can be read and appended to. New files can be made."),
	RULE(FILES, "ask", ASK,
		"Reading stays as the rule before it says. A person decides each change (wardfs "
		"approve)."),
	RULE(FILES, "noexec", NOEXEC,
		"The file cannot be executed, whatever other rules give. A tree that the pattern "
		"names as a whole is also mounted noexec."),
	RULE(FILES, "secret", SECRET,
		"As in [guard], within what the earlier rule allows. A later rule replaces it."),
	LIFT("read", LIFT_READ,
		"One file, without wildcards, that may be read although a shipped profile's "
		"`secret`, `deny` or `hide` of [guard] covers it."),
	LIFT("write", LIFT_WRITE, "The same, for all rights that the other rules give."),
	KEY(QUOTA, "growth", SIZE, MIN, FROM_ANY, VALUE, ALL, NULL, LIMIT_OF(WARD_QUOTA_GROWTH),
		"Bytes that the session added and that are still there. More: EDQUOT."),
	KEY(QUOTA, "files", COUNT, MIN, FROM_ANY, VALUE, ALL, NULL, LIMIT_OF(WARD_QUOTA_FILES),
		"Files, directories and links that the session made and that are still there. More: "
		"EDQUOT."),
	KEY(QUOTA, "file", SIZE, MIN, FROM_ANY, VALUE, ALL, NULL, LIMIT_OF(WARD_QUOTA_FILE),
		"How large one file may grow. More: EFBIG."),
	KEY(QUOTA, "rate", SIZE_RATE, MIN, FROM_ANY, VALUE, ALL, NULL, LIMIT_OF(WARD_QUOTA_RATE),
		"How fast the session may write. A faster write waits."),
	KEY(QUOTA, "churn", COUNT_RATE, MIN, FROM_ANY, VALUE, ALL, NULL, LIMIT_OF(WARD_QUOTA_CHURN),
		"How many files of others the session may remove, replace, cut or open for writing "
		"in a time. More: EDQUOT."),
	WORD(LIMITS, "require", require, MIN, FROM_ANY, NO, ALL, "yes",
		INTO(limits_where_available),
		"`yes`: a limit that this host cannot enforce refuses the run."),
	KEY(LIMITS, "cpus", CPUS, MIN, FROM_ANY, NO, ALL, NULL, INTO(cpus),
		"Processors of the session, in steps of 0.1, or a share of those there are."),
	KEY(LIMITS, "memory", SIZE_SHARE, MIN, FROM_ANY, NO, ALL, NULL, INTO(memory),
		"Memory of all processes together, without swap. Page cache and `/tmp` count."),
	KEY(LIMITS, "processes", COUNT, MIN, FROM_ANY, NO, ALL, "512", INTO(processes),
		"Processes and threads of the session."),
	KEY(LIMITS, "open-files", COUNT, MIN, FROM_ANY, NO, ALL, "4096", INTO(open_files),
		"Open files of each process; at least 16."),
	KEY(LIMITS, "file", SIZE, MIN, FROM_ANY, NO, ALL, NULL, INTO(file_size),
		"Size of each file that is written."),
	KEY(LIMITS, "cpu-time", CPU_TIME, MIN, FROM_ANY, NO, ALL, NULL, INTO(cpu_time_ns),
		"CPU time of all processes together, or so much for each processor there is. Then the "
		"session ends."),
	KEY(LIMITS, "wall", TIME, MIN, FROM_ANY, NO, ALL, NULL, INTO(wall_ns),
		"Time from start to end, also while the host is suspended."),
	KEY(LIMITS, "idle", TIME, MIN, FROM_ANY, NO, ALL, NULL, INTO(idle_ns),
		"Time without output, input or file access. While the host is suspended it stands still. "
		"Of a shipped profile: time without CPU use and without a terminal."),
	KEY(LIMITS, "grace", TIME, MIN, FROM_ANY, NO, ALL, "2s", INTO(grace_ns),
		"Time from SIGTERM to SIGKILL when a session ends."),
	KEY(LIMITS, "command", TIME, MIN, FROM_ANY, NO, ALL, NULL, INTO(command_ns),
		"Time of one command: of each `wardfs exec`, and of what `[process] shell` tells. Then the "
		"command ends, not the session."),
	KEY(LIMITS, "per-command", TIME, MIN, FROM_ANY, NO, ALL, NULL, INTO(per_command_ns),
		"Time of each `wardfs exec` alone."),
	KEY(LIMITS, "tmp", SIZE_SHARE, MIN, FROM_ANY, NO, ALL, "1G", INTO(tmp_bytes),
		"Size of /tmp, /var/tmp, /run and /dev/shm together."),
	WORD(LIMITS, "core", flag, MIN, FROM_ANY, NO, ALL, "no", INTO(core),
		"Processes may write core files."),
	WORD(HOME, "mode", home, MIN, FROM_HOST, NO, ALL, "tmpfs", INTO(home),
		"The home directory: kept for the project, in memory until the session ends, or "
		"missing."),
	KEY(HOME, "size", SIZE, MIN, FROM_HOST, NO, ALL, NULL, INTO(home_size),
		"How large a kept home may become."),
	WORD(SYSTEM, "view", view, MIN, FROM_HOST, NO, ALL, "minimal", INTO(view),
		"`minimal`: programs and libraries of the host. `readonly`: all of it that others "
		"may read."),
	LIST(SYSTEM, "read", HOST_PATH, BASE, BASE_ONLY, NO, ALL, NULL, INTO(system_read),
		"More of the host, read-only. A path that a guard, the floor or the project file closes "
		"refuses the start."),
	KEY(SYSTEM, "image", IMAGE, BASE, BASE_ONLY, NO, ALL, NULL, INTO(image),
		"The image whose files take the place of `view`: a directory, what `wardfs image pull` "
		"unpacked, or `none` (docs/images.md)."),
	KEY(CONTAINER, "engine", ENGINE, BASE, BASE_ONLY, NO, ALL, NULL, INTO(engine),
		"The engine of mode `docker`: runc, crun, runsc, podman, docker, or the path of one. "
		"Without it: the first of these that the host has; mode `auto` prefers one with a kernel "
		"of its own, and takes this mode if the policy names an engine (docs/containers.md)."),
	KEY(CONTAINER, "image", IMAGE, BASE, BASE_ONLY, NO, ALL, NULL, INTO(container_image),
		"The image of the container. In mode `docker` it takes the place of `[system] image`."),
	WORD(CONTAINER, "pull", pull, MIN, FROM_HOST, NO, ALL, "never", INTO(pull),
		"What a run does if its image is not in the store: it stops (`never`), or takes the "
		"image from docker or podman (`missing`), else with skopeo from a registry "
		"(`registry`). Also for `[system] image` (docs/images.md)."),
	KEY(CONTAINER, "pull-time", TIME, MIN, FROM_HOST, NO, ALL, "30m", INTO(pull_ns),
		"How long the engines have to fetch an image, all together. Then the run fails."),
	WORD(CONTAINER, "rm", keep_container, MIN, FROM_HOST, NO, WARD_READY_NONE, "yes", NOWHERE,
		"The container goes with the session. `no` is refused: nothing outlives a session."),
	LIST(ENV, "pass", ENV_PASS, BASE, BASE_ONLY, NO, ALL, NULL, INTO(env_pass),
		"A variable that is passed on, besides PATH TERM LANG LC_* TZ COLORTERM. Not from root to "
		"another owner, but under sudo by exact name."),
	LIST(ENV, "set", ENV_SET, BASE, BASE_ONLY, NO, ALL, NULL, INTO(env_set),
		"A variable that is set."),
	WORD(PROCESS, "seccomp", seccomp, MIN, FROM_HOST, NO, ALL, "default", INTO(seccomp),
		"Which system calls are allowed: `wardfs seccomp explain NAME`."),
	LIST(PROCESS, "exec", PROGRAM, COMMON, FROM_HOST, NO, ALL, NULL, READ(ward_programs_read),
		"Only these programs may be executed, whatever name reaches them. A directory "
		"stands for everything beneath it. Without a list: all programs."),
	LIST(PROCESS, "shell", SHELL, BASE, BASE_ONLY, NO, ALL, NULL, INTO(shells),
		"How a command of an agent's shell tool begins: its program and first arguments. "
		"`[limits] command` bounds it."),
	WORD(PROCESS, "python", python, MIN, FROM_HOST, NO, ALL, "any", INTO(python),
		"`restricted`: the command is a script in Python, which runs under RestrictedPython."),
	LIST(PROCESS, "import", MODULE, BASE, BASE_ONLY, NO, ALL, NULL, INTO(imports),
		"A module of Python, with what is beneath it, that such a script may import."),
	WORD(PROCESS, "terminal", flag, MIN, FROM_HOST, NO, ALL, "yes", INTO(terminal),
		"The command gets a terminal where there is one."),
	LIST(AGENT, "tools", TOOLS, ADD, FROM_HOST, NO, ALL, NULL,
		READ_INTO(agent_tools, ward_tools_read),
		"The tools that the agent wants: files, search, terminal, browser, desktop, mail, "
		"payments. Mode `auto` weighs them; they grant nothing."),
	KEY(AGENT, "budget", MONEY, MIN, FROM_HOST, NO, ALL, NULL, INTO(budget),
		"What the agent may spend, in any currency. Mode `auto` weighs it; wardfs does not see "
		"what is spent."),
	KEY(AUTO, "least", LEAST, MIN, FROM_HOST, NO, ALL, WARD_DEFAULT_MODE, INTO(auto_least),
		"The weakest mode that mode `auto` may pick. `none` also takes `trust = high` and "
		"`run --trust high`."),
	LIST(AUTO, "points", RISK_POINTS, ADD, FROM_HOST, NO, ALL, NULL, INTO(auto_points),
		"What a row of the table of risks costs, never less than by itself. Of several lines "
		"the largest number counts."),
	LIST(AUTO, "from", RISK_FROM, ADD, FROM_HOST, NO, ALL, NULL, INTO(auto_from),
		"Mode `auto` picks at least this mode from this many points on. A line can lower the "
		"number, not raise it. Of several lines the smallest number counts."),
	LIST(AUTO, "signers", SIGNER, ADD, FROM_HOST, NO, ALL, NULL, INTO(auto_signers),
		"A public key of minisign or signify. Where a program comes from costs nothing in mode "
		"`auto` if the program is signed with it. Without a key no signature counts."),
	WORD(NETWORK, "mode", net, MIN_OPEN, FROM_ANY, NO, ALL, "none", INTO(net),
		"No network, what is listed, everything through a proxy, or the network of the "
		"host."),
	LIST(NETWORK, "allow", ALLOW, COMMON, FROM_HOST, YES, ALL, NULL, NOWHERE,
		"A destination that may be connected to. Without a port: 443 and 80. `*` is any "
		"name and any public address."),
	/* a policy that denies more while there is no network at all has what it asks for */
	LIST(NETWORK, "deny", DENY, ADD, FROM_ANY, YES, ALL, NULL, NOWHERE,
		"A destination that is refused, whatever else is allowed. Without a port: all of "
		"them, UDP as well."),
	LIST(NETWORK, "ask", ASK_HOST, ADD, FROM_ANY, YES, ALL, NULL, NOWHERE,
		"A destination that a person is asked about, whether `allow` has it or not. `deny` "
		"stays. Without a port: all of them; where nothing else is allowed, 443 and 80."),
	KEY(NETWORK, "proxy", URL, BASE, BASE_ONLY, NO, ALL, NULL, INTO(net_proxy),
		"The proxy of mode `proxy`: http://HOST:PORT or socks5://HOST:PORT."),
	KEY(NETWORK, "identify", HEADER, BASE, BASE_ONLY, NO, ALL, NULL, INTO(net_identify),
		"The header that tells the proxy which session asks, or `proxy-authorization`."),
	WORD(NETWORK, "sni", sni, MIN, FROM_HOST, YES, ALL, "require", INTO(sni),
		"Whether the name in a TLS greeting, and the host of a plain HTTP request, must be "
		"the name that the program asked for."),
	KEY(NETWORK, "upload", SIZE, MIN, FROM_HOST, YES, ALL, NULL, INTO(net_upload),
		"How much the session may send to all destinations together."),
	KEY(NETWORK, "rate", SIZE_RATE, MIN, FROM_HOST, YES, ALL, NULL, INTO(net_rate),
		"How fast bytes move to and from each destination, both ways together."),
	KEY(NETWORK, "connections", COUNT, MIN, FROM_HOST, YES, ALL, NULL, INTO(net_connections),
		"Connections to each destination at once."),
	KEY(NETWORK, "connect-time", TIME, MIN, FROM_HOST, YES, ALL, "10s", INTO(net_connect_ns),
		"How long each address of a server has to take a connection. Then the next one is "
		"tried."),
	KEY(NETWORK, "handshake-time", TIME, MIN, FROM_HOST, YES, ALL, "30s",
		INTO(net_handshake_ns),
		"How long a TLS greeting, or the head of a plain HTTP request, may take to arrive."),
	KEY(NETWORK, "idle", TIME, MIN, FROM_HOST, YES, ALL, "1h", INTO(net_idle_ns),
		"A connection on which nothing moves for so long is closed."),
	LIST(NETWORK, "publish", PORTS, BASE, BASE_ONLY, NO, ALL, NULL, INTO(net_publish),
		"A port of the host, and the port inside that it leads to."),
	LIST(NETWORK, "forward", PORTS, BASE, BASE_ONLY, NO, ALL, NULL, INTO(net_forward),
		"A port inside, and the port of the host that it leads to."),
	LIST(NETWORK, "socket", HOST_PATH, BASE, BASE_ONLY, NO, ALL, NULL, INTO(net_socket),
		"A unix socket (a stream) of the host, which programs inside reach at the same "
		"path."),
	KEY(APPROVALS, "timeout", TIME, MIN, FROM_HOST, YES, ALL, "60s", INTO(ask_ns),
		"How long an open or a connection that `ask` covers waits for a person. Then "
		"it is refused."),
	KEY(APPROVALS, "command", HOST_PATH, BASE, BASE_ONLY, NO, ALL, NULL, INTO(ask_command),
		"A program of the host that gets each question, and may answer (docs/approvals.md)."),
	LIST(APPROVALS, "approver", PUBLIC_KEY, ADD, FROM_HOST, YES, ALL, NULL, INTO(approvers),
		"A public key whose tokens give grants and whose signed answers count. As `wardfs token "
		"key` and `wardfs audit key show` print one, or an Ed25519 key of OpenSSH: its line "
		"`ssh-ed25519 …` or `sk-ssh-ed25519@openssh.com …`, which signs answers only."),
	KEY(APPROVALS, "approvers", APPROVERS, MAX, FROM_ANY, YES, ALL, "0", INTO(approvers_needed),
		"How many keys that `approver` names have to sign an answer that gives something "
		"(docs/approvals.md). From 1 on no grant comes without a signature, and from 2 on none "
		"from a token, except for `break-glass`."),
	LIST(APPROVALS, "break-glass", PUBLIC_KEY, ADD, FLOOR_ONLY, YES, ALL, NULL,
		INTO(break_glass),
		"A public key, as `wardfs token key` prints one, whose tokens may lift named lines of "
		"`[guard]` in one session, for an hour at most (docs/grants.md)."),
	LIST(APPROVALS, "revoked", HOST_PATH, ADD, FROM_HOST, YES, ALL, NULL, INTO(revoked),
		"A file with ids of tokens that give nothing, one a line. wardfs reads it when a token "
		"is presented. If wardfs cannot read it, no token gives anything."),
	KEY(REVIEW, "keep", TIME, MIN, FROM_HOST, NO, ALL, "30d", INTO(review_keep_ns),
		"How long `review apply` keeps what it displaced, for `review undo`."),
	KEY(REVIEW, "every", TIME, MIN, FROM_HOST, YES, ALL, NULL, INTO(review_every_ns),
		"A step of its own once nothing in the trees has changed for this long, if something "
		"has since the last one (docs/review.md)."),
	KEY(REVIEW, "size", SIZE, MIN, FROM_ANY, VALUE, ALL, NULL,
		READ_INTO(review_size, ward_quota_read),
		"Bytes that staged files and the copies of steps take together. More: EDQUOT, and no "
		"step (docs/review.md)."),
	WORD(REVIEW, "require-check", flag, MAX, FROM_ANY, NO, ALL, "no",
		INTO(review_require_check),
		"`review apply` only takes changes on which a check succeeded, as with --require-check "
		"(docs/review.md)."),
	WORD(REVIEW, "require-sign", flag, MAX, FROM_ANY, NO, ALL, "no", INTO(review_require_sign),
		"`review apply` only takes changes that approvers have signed, as with "
		"--require-sign."),
	KEY(SESSION, "warm", WARM, MIN, FROM_ANY, YES, ALL, "0", INTO(warm),
		"How many sessions wait, prepared, for the next `run` of this project with the same "
		"options (docs/warm.md)."),
	KEY(SESSION, "warm-for", TIME, MIN, FROM_ANY, YES, ALL, "5m", INTO(warm_ns),
		"How long a prepared session waits. Then it ends."),
	WORD(AUDIT, "log", audit_log, MIN, FROM_HOST, NO, ALL, "opens", INTO(log),
		"How much the trail holds."),
	WORD(AUDIT, "hash", audit_hash, MIN, FROM_HOST, NO, ALL, "none", INTO(hash),
		"Which contents have a digest (SHA-256) in the records of opens and closes."),
	WORD(AUDIT, "exec", flag, MAX, FROM_HOST, NO, ALL, "yes", INTO(exec),
		"The trail records each program, with its arguments and who started it, before it "
		"runs."),
	WORD(AUDIT, "on-failure", on_failure, MIN, FROM_HOST, YES, ALL, "deny", INTO(on_failure),
		"What happens when the trail cannot be written."),
	WORD(AUDIT, "sync", audit_sync, MIN, FROM_HOST, NO, ALL, "batch", INTO(sync),
		"When records reach the disk."),
	WORD(AUDIT, "writer", audit_writer, MIN, FROM_HOST, NO, ALL, "own", INTO(writer),
		"Whose process writes the trail."),
	LIST(AUDIT, "checkpoint", CHECKPOINT, ADD, FROM_HOST, NO, ALL, "10000",
		READ(ward_checkpoint_read),
		"After how many records a checkpoint is signed, or how long after the one before. "
		"Of several counts or times the smallest counts. Without a time: 10s."),
	LIST(AUDIT, "anchor", ANCHOR, ADD, FROM_HOST, NO, ALL, NULL, READ(ward_anchors_read),
		"Where checkpoints are also sent: to all that any source names. Without it the "
		"journal, if there is one, gets the first and the last checkpoint; `none` sends "
		"nothing where no other anchor is named."),
	KEY(AUDIT, "rotate", SIZE, MIN, FROM_HOST, NO, ALL, "256M", INTO(rotate),
		"A longer trail goes on in a new file, and the finished one is compressed. At least "
		"64K."),
	KEY(AUDIT, "keep", TIME, MAX, FROM_HOST, NO, ALL, "200d", INTO(keep_ns),
		"How long the trail is kept after the end of its session, by `prune` and by `remove` without `--force`. Where root starts a session for another owner, that owner's file can only make it longer than by default."),
	WORDS(AUDIT, "redact", redact, ADD, FROM_HOST, NO, ALL, "none", INTO(redact),
		"What the trail leaves out. `argv`: the arguments of programs. `sni`: the names in "
		"TLS greetings."),
	LIST(EXPECT, "path", EXPECTED_PATH, BASE, BASE_ONLY, YES, ALL, NULL,
		READ(ward_expected_read),
		"Refusals of this path, and beneath, are expected: recorded and counted, but not "
		"printed at the end of a run."),
	LIST(EXPECT, "lookup", EXPECTED_LOOK, BASE, BASE_ONLY, YES, ALL, NULL,
		READ(ward_expected_read),
		"Lookups of hidden names, which wardfs answers with \"no such file\": programs that "
		"try `.env` in each directory."),
	LIST(EXPECT, "host", EXPECTED_HOST, BASE, BASE_ONLY, YES, ALL, NULL, NOWHERE,
		"The same of a destination. Without a port: all of them."),
	LIST(TEST, "expect", EXPECT, ADD, FROM_ANY, YES, ALL, NULL, NOWHERE,
		"What an action answers; `wardfs policy test` checks it. No disk plays a part: a "
		"directory moves only where the rules alone allow it."),
	{0},
};
