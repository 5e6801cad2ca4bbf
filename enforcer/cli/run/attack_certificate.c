/* SPDX-License-Identifier: Apache-2.0 */
/* Certificates of `wardfs attack`: signs them and checks them. */
#include "enforcer/cli/run/attack_certificate.h"

#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "audit/log/chain.h"
#include "audit/query/query.h"
#include "audit/store/store.h"
#include "audit/verify/attest.h"
#include "enforcer/base/build_id.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/clock.h"
#include "enforcer/base/fd.h"
#include "enforcer/base/out.h"
#include "enforcer/cli/audit/audit_keys.h"
#include "enforcer/cli/base/arguments.h"
#include "enforcer/cli/base/output.h"
#include "enforcer/cli/base/say.h"

#define PREDICATE "urn:wardfs:attestation:attack:v1"
#define STATEMENT_TYPE "https://in-toto.io/Statement/v1"
#define FAILED 125
#define USAGE 2

static int open_store(bool create, struct ward_store **ret, struct ward_err *err)
{
	ward_cleanup_free char *state = NULL;
	int r = ward_store_default_path(
		geteuid(), secure_getenv("XDG_STATE_HOME"), secure_getenv("HOME"), &state, err);
	return r < 0 ? r : ward_store_open(state, create, ret, err);
}

static void hex(const void *data, size_t len, char ret[65])
{
	unsigned char hash[crypto_hash_sha256_BYTES];
	(void)crypto_hash_sha256(hash, data, (unsigned long long)len);
	(void)sodium_bin2hex(ret, 65, hash, sizeof(hash));
}

/* --- making one --- */
static int first_policy(void *ctx, const char *line, size_t len, const json_t *record)
{
	const char *policy = ward_query_text(record, "policy");
	char *ret = ctx;
	(void)line;
	(void)len;
	if (ward_query_kind(record) == WARD_EVENT_SESSION_START && policy)
		snprintf(ret, 65, "%s", policy);
	return 1;
}

/* The digest of the policy that was in force, as the trail of the session has it. */
static int policy_of(struct ward_store *st, const char *session, char ret[65], struct ward_err *err)
{
	ward_cleanup(ward_log_closep) struct ward_log *log = NULL;
	int r = ward_store_open_log(st, session, &log, err);
	if (r == 0)
		r = ward_query_walk(log, true, first_policy, ret, err);
	if (r < 0)
		return r;
	return *ret ? 0 : ward_err_set(err, -ENODATA, "the trail of %s names no policy", session);
}

/* The program that the command line begins with: its path as execvp(3) finds it, and its digest. */
static json_t *program_of(const json_t *argv)
{
	const char *name = json_string_value(json_array_get(argv, 0));
	const char *path = getenv("PATH");
	char at[PATH_MAX], digest[65];

	if (!name)
		return json_null();
	snprintf(at, sizeof(at), "%s", name);
	for (; !strchr(name, '/') && path && *path; path += strcspn(path, ":")) {
		path += *path == ':';
		snprintf(at, sizeof(at), "%.*s/%s", (int)strcspn(path, ":"), path, name);
		if (access(at, X_OK) == 0)
			break;
	}
	ward_cleanup_fd int fd = -1;
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	if (ward_fd_open_named(at, WARD_NAMED_FILE, &fd, NULL) < 0 ||
		ward_fd_read_all(fd, (size_t)512 << 20, &b) < 0)
		return json_pack("{ss sn}", "path", at, "sha256");
	hex(b.data, b.len, digest);
	return json_pack("{ss ss}", "path", at, "sha256", digest);
}

static json_t *statement_of(json_t *run, const char *policy)
{
	char when[WARD_CLOCK_TEXT_MAX], build[WARD_BUILD_ID_SIZE], subject[65];
	char *argv = json_dumps(json_object_get(run, "argv"), JSON_COMPACT | JSON_ENSURE_ASCII);
	json_t *version = json_pack("{ss ss so}", "wardfs", WARD_VERSION, "build",
		ward_build_id(build), "program", program_of(json_object_get(run, "argv")));

	ward_clock_format(ward_clock_real_ns(), when);
	hex(argv ? argv : "", argv ? strlen(argv) : 0, subject);
	free(argv);
	if (policy)
		snprintf(subject, sizeof(subject), "%s", policy);
	json_object_set_new(run, "attested", json_string(when));
	json_object_set_new(run, "version", version);
	json_object_set_new(run, "policy",
		policy ? json_pack("{s{ss}}", "digest", "sha256", policy) : json_null());
	return json_pack("{ss s[{ss s{ss}}] ss sO}", "_type", STATEMENT_TYPE, "subject", "name",
		policy ? "policy" : "argv", "digest", "sha256", subject, "predicateType", PREDICATE,
		"predicate", run);
}

int ward_certificate_write(const char *statement, size_t len, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	struct ward_store *st = NULL;
	uint8_t seed[WARD_KEY_BYTES];
	struct ward_signing_key key;
	char policy[65] = "";
	json_t *got = json_loadb(statement, len, 0, NULL);
	json_t *run = json_object_get(got, "run");
	const char *file = json_string_value(json_object_get(got, "file"));
	const char *session = json_string_value(json_object_get(run, "session"));
	int r = file && run ? ward_chain_setup() : -EBADMSG;

	if (r < 0)
		(void)ward_err_sys(err, r, "the certificate");
	if (r == 0)
		r = open_store(true, &st, err);
	if (r == 0 && session)
		r = policy_of(st, session, policy, err);
	if (r == 0)
		r = ward_store_read_seed(st, seed, err);
	if (r == 0) {
		json_t *s = statement_of(run, *policy ? policy : NULL);
		ward_signing_key_from_seed(seed, &key);
		r = s ? ward_attest_sign(s, &key, &b, err)
		      : ward_err_sys(err, -ENOMEM, "the certificate");
		ward_chain_wipe(seed, sizeof(seed));
		ward_chain_wipe(&key, sizeof(key));
		json_decref(s);
	}
	if (r == 0)
		r = ward_output_write(file, false, &b, err);
	ward_store_close(st);
	json_decref(got);
	return r;
}

/* --- checking one --- */
enum {
	KEY_KEY = 1000,
	KEY_JSON,
};

struct verify {
	struct audit_cmd keys; /* only its keys are used */
	const char *file;
	bool json;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct verify *v = state->input;
	switch (key) {
	case KEY_KEY:
		if (!audit_keys_take(&v->keys, arg))
			ward_arguments_wrong(
				state, "--key: neither a public key nor a file of them: %s", arg);
		return 0;
	case KEY_JSON:
		v->json = true;
		return 0;
	case ARGP_KEY_ARG:
		if (v->file)
			ward_arguments_wrong(state, "too many arguments: %s", arg);
		v->file = arg;
		return 0;
	case ARGP_KEY_END:
		if (audit_keys_lacking(&v->keys))
			ward_arguments_wrong(state,
				"--key: neither a public key nor a file of them: %s",
				audit_keys_lacking(&v->keys));
		return 0;
	case ARGP_KEY_NO_ARGS:
		ward_arguments_wrong(state, "verify needs a FILE");
		return EINVAL;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp_option options[] = {
	{"key", KEY_KEY, "KEY", 0, "", 0},
	{"json", KEY_JSON, NULL, 0, "", 0},
	{0},
};
static const struct argp verify_argp = {options, parse, "FILE", "", NULL, NULL, NULL};

static const char *const verdicts[] = {"held", "broken", "not applicable", "untested"};
#define N_VERDICTS (sizeof(verdicts) / sizeof(*verdicts))

/*
 * The counts are those of the attempts, and none held whose control did not succeed. NULL, or what
 * is wrong.
 */
static const char *consistent(const json_t *p, size_t counts[N_VERDICTS])
{
	const json_t *attempts = json_object_get(p, "attempts");
	const json_t *a;
	size_t i;

	json_array_foreach(attempts, i, a)
	{
		const char *verdict = ward_query_text(a, "verdict");
		const char *control = ward_query_text(a, "control");
		size_t v = 0;
		while (v < N_VERDICTS && (!verdict || strcmp(verdict, verdicts[v]) != 0))
			v++;
		if (v == N_VERDICTS || !control || !ward_query_text(a, "name"))
			return "an attempt has no verdict or no control";
		if (v == 0 && strcmp(control, "did") != 0)
			return "an attempt held whose control did not succeed";
		counts[v]++;
	}
	for (size_t v = 0; v < N_VERDICTS; v++)
		if (json_integer_value(json_object_get(
			    json_object_get(p, "counts"), verdicts[v])) != (json_int_t)counts[v])
			return "its counts are not those of its attempts";
	return NULL;
}

static int own_key(struct verify *v, struct ward_err *err)
{
	struct ward_store *st = NULL;
	char text[WARD_VKEY_MAX];
	int r = open_store(false, &st, err);
	v->keys.store = st;
	if (r == 0)
		r = audit_keys_present(&v->keys, text, err);
	if (r == 0)
		r = ward_public_key_parse(text, strlen(text), &v->keys.keys[v->keys.n_keys++]);
	ward_store_close(st);
	v->keys.store = NULL;
	if (r == -ENOENT)
		return ward_err_set(err, r,
			"this host has no key; give the key that 'wardfs audit "
			"key show' prints on the other host, as --key");
	return r;
}

static void print(const struct verify *v, const json_t *p, const size_t counts[N_VERDICTS])
{
	const json_t *version = json_object_get(p, "version");
	const json_t *digest = json_object_get(json_object_get(p, "policy"), "digest");
	const json_t *a;
	size_t i;

	ward_outf("%s: genuine: attested %.19sZ\n", v->file,
		ward_query_text(p, "attested") ? ward_query_text(p, "attested") : "?");
	ward_outf("  sandbox  %s\n  kernel   %s\n  wardfs   %s, build %s\n",
		ward_query_text(p, "sandbox"), ward_query_text(p, "kernel"),
		ward_query_text(version, "wardfs"), ward_query_text(version, "build"));
	if (digest)
		ward_outf("  policy   sha256 %s\n", ward_query_text(digest, "sha256"));
	ward_outf("  attempts %zu held, %zu broken, %zu not applicable, %zu untested\n", counts[0],
		counts[1], counts[2], counts[3]);
	json_array_foreach(json_object_get(p, "attempts"), i, a)
	{
		const char *verdict = ward_query_text(a, "verdict");
		if (strcmp(verdict, "broken") == 0 || strcmp(verdict, "untested") == 0)
			ward_outf("  %-8s %s\n", verdict, ward_query_text(a, "name"));
	}
}

static int check(struct verify *v, const struct ward_buf *b)
{
	json_t *statement = NULL;
	size_t counts[N_VERDICTS] = {0};
	const enum ward_verify_state s = ward_attest_open(
		b->data, b->len, PREDICATE, v->keys.keys, v->keys.n_keys, &statement);
	const json_t *p = json_object_get(statement, "predicate");
	const char *wrong = s == WARD_VERIFY_FOREIGN  ? "another key signed it"
			    : s != WARD_VERIFY_INTACT ? "it was changed, or is no certificate"
						      : consistent(p, counts);

	if (wrong)
		ward_sayf("%s: not genuine: %s", v->file, wrong);
	else if (v->json)
		ward_print_json(json_incref(statement));
	else
		print(v, p, counts);
	json_decref(statement);
	return wrong ? 1 : 0;
}

static int verify(struct verify *v, int argc, char **argv)
{
	struct ward_err err = WARD_ERR_INIT;
	ward_cleanup_fd int fd = -1;
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;

	if (ward_arguments_parse(&verify_argp, argc, argv, 0, v) != 0)
		return USAGE;
	int r = ward_chain_setup();
	if (r < 0)
		(void)ward_err_sys(&err, r, "libsodium");
	if (r == 0 && v->keys.n_keys == 0)
		r = own_key(v, &err);
	if (r == 0)
		r = ward_fd_open_named(v->file, WARD_NAMED_PIPE, &fd, &err);
	if (r == 0) {
		r = ward_fd_read_all(fd, WARD_ATTEST_MAX, &b);
		if (r < 0)
			(void)ward_err_sys(&err, r, "%s", v->file);
	}
	if (r < 0) {
		ward_say(err.text);
		return FAILED;
	}
	return check(v, &b);
}

int ward_certificate_verify(int argc, char **argv)
{
	struct verify v = {.keys = {.verb = "verify"}};
	int r = verify(&v, argc, argv);
	ward_buf_clear(&v.keys.rotations);
	return r;
}
