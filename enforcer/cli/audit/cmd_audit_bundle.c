/* SPDX-License-Identifier: Apache-2.0 */
/* wardfs audit bundle: a tar archive (POSIX.1-1988, ustar) of what an auditor needs of a session.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "audit/log/chain.h"
#include "audit/log/segments.h"
#include "enforcer/base/cleanup.h"
#include "enforcer/base/fd.h"
#include "enforcer/cli/audit/audit_attestation.h"
#include "enforcer/cli/audit/audit_bundle.h"
#include "enforcer/cli/audit/audit_keys.h"
#include "enforcer/cli/audit/audit_ledger.h"
#include "enforcer/cli/audit/audit_options.h"
#include "enforcer/cli/audit/audit_output.h"
#include "enforcer/cli/audit/audit_policies.h"
#include "enforcer/cli/audit/audit_trail.h"
#include "enforcer/cli/audit/audit_verb.h"
#include "enforcer/cli/audit/audit_verbs.h"
#include "enforcer/cli/base/say.h"

#define BLOCK 512U
/* Eleven octal digits of a size. */
#define SIZE_MAX_USTAR UINT64_C(077777777777)

/* What stands before and behind the name of the trail's first file. */
static const char readme[] = "A trail of wardfs, to be verified without the host that wrote it.\n"
			     "\n"
			     "With wardfs, on the archive as it came, or in this directory:\n"
			     "\n"
			     "    wardfs audit verify --key KEYS BUNDLE.tar\n"
			     "    wardfs audit verify --key ./public.keys ./";
static const char readme_rest[] =
	"\n"
	"    wardfs audit verify --key ./public.keys ./attestation.json\n"
	"\n"
	"Without it: docs/audit-format.md of wardfs describes files, records and checks; SHA-256 "
	"and\n"
	"Ed25519 (the command openssl has both) are all that it takes.\n"
	"\n"
	"public.keys came with the rest: whoever wrote the one could write the other. Compare it "
	"with\n"
	"what `wardfs audit key show` said on that host, or with what was kept of it elsewhere; "
	"and\n"
	"the checkpoints with those that were anchored.\n"
	"\n"
	"trail.jsonl*     the records, one a line. A long trail goes on in trail.2.jsonl and so "
	"on.\n"
	"                 A name that ends with .zst is compressed; zstd -d unpacks it.\n"
	"checkpoints      signed roots of their tree\n"
	"public.keys      the keys that verify the checkpoints\n"
	"policy           the policy at the start, as it was compiled\n";
static const char readme_reloaded[] = "policy.N         the policy of the N-th reload\n";
static const char readme_texts[] = "policy.txt       each policy that was in force, as text\n";
static const char readme_approvals[] =
	"approvals.json   who allowed what, for how long, having seen what\n";
static const char readme_chain[] =
	"key.chain        rotations: each key of that host signed the next one. verify takes it,\n"
	"                 so the key of that host that you know suffices\n";
static const char readme_end[] =
	"attestation.json what was in force and held, signed (in-toto, DSSE)\n";

static void octal(char *to, size_t digits, uint64_t v)
{
	for (size_t i = digits; i-- > 0; v >>= 3)
		to[i] = (char)('0' + (v & 7));
}

static int put_header(int fd, const char *dir, const char *name, uint64_t size)
{
	char h[BLOCK] = {0};
	unsigned sum = 0;
	if (size > SIZE_MAX_USTAR)
		return -EFBIG;
	/* A session's name has at most 80 characters, the prefix room for 155. */
	snprintf(h, 100, "%s", name);
	octal(h + 100, 7, 0644);
	octal(h + 108, 7, 0);
	octal(h + 116, 7, 0);
	octal(h + 124, 11, size);
	octal(h + 136, 11, (uint64_t)time(NULL));
	memset(h + 148, ' ', 8);
	h[156] = '0';
	memcpy(h + 257, "ustar\00000", 8);
	snprintf(h + 345, 155, "%s", dir);
	for (size_t i = 0; i < sizeof(h); i++)
		sum += (unsigned char)h[i];
	octal(h + 148, 6, sum);
	h[154] = '\0';
	return ward_fd_write_all(fd, h, sizeof(h));
}

static int pad(int fd, uint64_t size)
{
	static const char zeros[BLOCK];
	return ward_fd_write_all(fd, zeros, (BLOCK - size % BLOCK) % BLOCK);
}

static int put_text(int fd, const char *dir, const char *name, const void *data, size_t len)
{
	int r = put_header(fd, dir, name, len);
	if (r == 0)
		r = ward_fd_write_all(fd, data, len);
	return r == 0 ? pad(fd, len) : r;
}

/* As much of the file as there is now: a trail may grow meanwhile. */
static int put_file(int fd, const char *dir, const char *name, int from)
{
	char buf[65536];
	struct stat st;
	int r = fstat(from, &st) < 0 ? -errno : put_header(fd, dir, name, (uint64_t)st.st_size);
	for (off_t at = 0; r == 0 && at < st.st_size;) {
		size_t want = (size_t)(st.st_size - at);
		ssize_t n = pread(from, buf, want < sizeof(buf) ? want : sizeof(buf), at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		r = ward_fd_write_all(fd, buf, (size_t)n);
		at += n;
	}
	return r == 0 ? pad(fd, (uint64_t)st.st_size) : r;
}

/* Which files of a bundle are there besides those that each has. */
struct has {
	bool texts, approvals, chain, attestation;
};

/* Names files that are here, as they are called here: plain or compressed, and no others. */
static int put_readme(int fd, const char *dir, struct ward_log *log,
	const struct ward_policy_texts *texts, const struct has *has)
{
	size_t loaded = 0;
	char name[WARD_SEGMENT_NAME_MAX];
	struct ward_log_file f;
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	int r = ward_log_file(log, 0, &f);
	if (r < 0)
		return r;
	ward_segment_name(name, f.number, f.packed);
	for (size_t i = 0; i < texts->n; i++)
		loaded += texts->v[i].loaded;
	ward_buf_printf(&b, "%s%s%s%s%s%s%s%s", readme, name, readme_rest,
		loaded > 1 ? readme_reloaded : "", has->texts ? readme_texts : "",
		has->approvals ? readme_approvals : "", has->chain ? readme_chain : "",
		has->attestation ? readme_end : "");
	r = ward_buf_error(&b);
	return r < 0 ? r : put_text(fd, dir, "README", b.data, b.len);
}

/* As they lie there, plain or compressed. */
static int put_segments(int fd, const char *dir, struct ward_log *log)
{
	char name[WARD_SEGMENT_NAME_MAX];
	struct ward_log_file f;
	int r = 0;
	for (size_t i = 0; r == 0 && (r = ward_log_file(log, i, &f)) == 0; i++) {
		ward_segment_name(name, f.number, f.packed);
		r = put_file(fd, dir, name, f.fd);
	}
	return r == -ENOENT ? 0 : r;
}

/* *ret_chain: there is a key.chain. */
static int put_keys(
	struct audit_cmd *c, int fd, const char *name, bool *ret_chain, struct ward_err *err)
{
	struct ward_ledger_view ledger = {0};
	uint8_t root[WARD_KEY_BYTES];
	char key[WARD_VKEY_MAX];
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf chain = WARD_BUF_INIT;
	int r = ward_store_read_key(c->store, root, err);
	if (r == 0)
		r = audit_ledger_read(c, root, &ledger, err);
	ward_chain_wipe(root, sizeof(root));
	if (r < 0)
		return r;
	const struct ward_ledger_session *s = ward_ledger_view_find(&ledger, name);
	for (size_t i = 0; s && i < s->n_keys; i++) {
		ward_public_key_print(&s->keys[i], key);
		ward_buf_printf(&b, "%s\n", key);
	}
	for (size_t i = 0; i < ledger.n_rotations; i++)
		ward_buf_printf(&chain, "%s\n", ledger.rotations[i]);
	ward_ledger_view_free(&ledger);
	if (b.len == 0)
		return ward_err_set(err, -ENOENT, "the ledger names no key of %s", name);
	/* The host's present key signs the attestation. */
	r = audit_keys_present(c, key, err);
	if (r < 0)
		return r;
	if (!strstr(ward_buf_str(&b), key))
		ward_buf_printf(&b, "%s\n", key);
	r = put_text(fd, name, "public.keys", b.data, b.len);
	*ret_chain = chain.len > 0;
	if (r == 0 && chain.len)
		r = put_text(fd, name, "key.chain", chain.data, chain.len);
	return r < 0 ? ward_err_sys(err, r, "bundle") : 0;
}

/* Those that were in force, to be read, and as they were compiled; what wardfs 0.1 wrote has none.
 */
static int make_policies(struct ward_log *log, const char *name, struct ward_policy_texts *t,
	struct ward_buf *ret, struct ward_err *err)
{
	int r = audit_policies_read(log, name, t, err);
	if (r == -ENODATA || r == -EBADMSG) {
		*err = WARD_ERR_INIT;
		ward_policy_texts_clear(t);
		return 0;
	}
	if (r < 0)
		return r;
	audit_policies_write(t, ret);
	r = ward_buf_error(ret);
	return r < 0 ? ward_err_sys(err, r, "policy.txt") : 0;
}

/* As the records have them, to which verify holds the files of the session's directory. */
static int put_reloaded(int fd, const char *dir, const struct ward_policy_texts *t)
{
	char name[32];
	unsigned n = 0;
	int r = 0;
	for (size_t i = 0; r == 0 && i < t->n; i++) {
		const struct ward_policy_text *p = &t->v[i];
		if (!p->loaded || n++ == 0)
			continue;
		snprintf(name, sizeof(name), "policy.%u", n - 1);
		r = put_text(fd, dir, name, p->sources.data, p->sources.len);
	}
	return r;
}

static int put_all(struct audit_cmd *c, int fd, struct ward_err *err)
{
	static const char end[2 * BLOCK];
	ward_cleanup_free char *name = NULL;
	ward_cleanup(ward_log_closep) struct ward_log *log = NULL;
	ward_cleanup_fd int notes = -1;
	ward_cleanup_fd int policy = -1;
	ward_cleanup(ward_buf_clear) struct ward_buf attestation = WARD_BUF_INIT;
	ward_cleanup(ward_buf_clear) struct ward_buf policies = WARD_BUF_INIT;
	ward_cleanup(ward_policy_texts_clear) struct ward_policy_texts texts = {0};
	ward_cleanup_free char *approvals = NULL;
	bool intact = false;
	bool chain = false;
	int r = audit_trail_open(c, &name, &log, err);
	if (r == 0)
		r = ward_store_open_checkpoints(c->store, name, &notes, err);
	if (r == 0)
		r = ward_store_open_policy(c->store, name, &policy, err);
	if (r == 0)
		r = put_keys(c, fd, name, &chain, err);
	if (r == 0)
		r = audit_attestation_make(c, &attestation, &intact, err);
	/* No record is genuine: the other side gets the trail as it is. */
	if (r == -ENODATA) {
		ward_sayf("the bundle has no attestation: %s", err->text);
		*err = WARD_ERR_INIT;
		r = 0;
	}
	if (r == 0)
		r = make_policies(log, name, &texts, &policies, err);
	if (r == 0)
		r = audit_bundle_approvals(log, &approvals, err);
	if (r < 0)
		return r;
	const struct has has = {policies.len > 0, approvals != NULL, chain, attestation.len > 0};
	r = put_readme(fd, name, log, &texts, &has);
	/* The checkpoints before the trail: they speak of no more than it then has. */
	if (r == 0)
		r = put_file(fd, name, "checkpoints", notes);
	if (r == 0)
		r = put_segments(fd, name, log);
	if (r == 0)
		r = put_file(fd, name, "policy", policy);
	if (r == 0)
		r = put_reloaded(fd, name, &texts);
	if (r == 0 && policies.len)
		r = put_text(fd, name, "policy.txt", policies.data, policies.len);
	if (r == 0 && approvals)
		r = put_text(fd, name, "approvals.json", approvals, strlen(approvals));
	if (r == 0 && attestation.len)
		r = put_text(fd, name, "attestation.json", attestation.data, attestation.len);
	if (r == 0)
		r = ward_fd_write_all(fd, end, sizeof(end));
	if (r < 0)
		return ward_err_sys(err, r, "bundle");
	if (!intact)
		ward_sayf("the trail of %s is not intact; the bundle contains it unchanged", name);
	return intact ? 0 : 1;
}

static int run_bundle(struct audit_cmd *c, struct ward_err *err)
{
	if (!c->output && isatty(STDOUT_FILENO)) {
		ward_sayf("audit bundle: cannot write an archive to a terminal; use -o FILE");
		return 2;
	}
	if (!c->output)
		return put_all(c, STDOUT_FILENO, err);
	ward_cleanup(ward_output_drop) struct ward_output o = WARD_OUTPUT_INIT;
	int r = audit_output_begin(c, c->output, 0600, &o, err);
	if (r < 0)
		return r;
	int status = put_all(c, o.fd, err);
	if (status >= 0)
		r = ward_output_finish(&o, err);
	return status < 0 || r == 0 ? status : r;
}

/* --- on the command line --- */

static const struct argp_option bundle_options[] = {
	{"output", 'o', "FILE", 0, "Into this new file (default: stdout)", 0},
	AUDIT_OUTPUT_FORCE,
	{0},
};
const struct argp audit_bundle_argp = {bundle_options, audit_verb_parse, "[SESSION]",
	"Writes a trail to a tar archive, with its checkpoints, public keys, policy, "
	"attestation, and instructions to verify it on another host. SESSION is a name, its "
	"unique beginning, or latest (the default).\vExit status: 0; 1 the trail is not intact; "
	"2 usage; 125 the trail cannot be read.",
	audit_options_sessions, NULL, NULL};
static const struct audit_verb bundle_verb = {
	.name = "bundle",
	.argp = &audit_bundle_argp,
	.words = "s",
	.run = run_bundle,
};

int ward_audit_cmd_bundle(int argc, char **argv)
{
	return audit_verb_call(&bundle_verb, argc, argv);
}
