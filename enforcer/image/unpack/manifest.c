/* SPDX-License-Identifier: Apache-2.0 */
/* What an image consists of: an OCI layout (image-spec), or manifest.json of `docker save`. */
#include <errno.h>
#include <jansson.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "enforcer/base/cleanup.h"
#include "enforcer/image/unpack/unpack.h"

#define REF_NAME "org.opencontainers.image.ref.name"

struct asked {
	const struct unpack_source *s;
	const char *platform; /* architecture, as Go names it */
	const char *tag;      /* NULL: the only one */
};

void unpack_image_clear(struct unpack_image *m)
{
	for (size_t i = 0; i < m->n_layers; i++) {
		free(m->layers[i].name);
		free(m->layers[i].digest);
	}
	free(m->layers);
	ward_buf_clear(&m->config);
	*m = (struct unpack_image){.layers = NULL};
}

static void json_clear(json_t **o)
{
	json_decref(*o);
}

static const char *text_of(const json_t *o, const char *name)
{
	return json_string_value(json_object_get(o, name));
}

static int read_json(const struct unpack_source *s, const char *name, const char *digest,
	json_t **ret, struct ward_err *err)
{
	ward_cleanup(ward_buf_clear) struct ward_buf b = WARD_BUF_INIT;
	json_error_t e;
	int r = unpack_source_read(s, name, digest, &b, err);
	if (r < 0)
		return r;
	*ret = json_loadb(b.data, b.len, JSON_REJECT_DUPLICATES, &e);
	return *ret ? 0 : ward_err_set(err, -EBADMSG, "%s: %s", name, e.text);
}

static int add_layer(
	struct unpack_image *m, const char *name, const char *digest, struct ward_err *err)
{
	if (!m->layers)
		m->layers = calloc(UNPACK_LAYERS_MAX, sizeof(*m->layers));
	if (m->n_layers == UNPACK_LAYERS_MAX)
		return ward_err_set(
			err, -E2BIG, "the image has more than %u layers", UNPACK_LAYERS_MAX);
	struct unpack_layer l = {strdup(name), strdup(digest)};
	if (!m->layers || !l.name || !l.digest) {
		free(l.name);
		free(l.digest);
		return ward_err_sys(err, -ENOMEM, "image");
	}
	m->layers[m->n_layers++] = l;
	return 0;
}

/* --- OCI --- */

static int take_layers(
	const struct asked *a, const json_t *manifest, struct unpack_image *m, struct ward_err *err)
{
	static const char *const types[] = {"application/vnd.oci.image.layer.v1.tar",
		"application/vnd.oci.image.layer.v1.tar+gzip",
		"application/vnd.oci.image.layer.v1.tar+zstd",
		"application/vnd.docker.image.rootfs.diff.tar",
		"application/vnd.docker.image.rootfs.diff.tar.gzip"};
	char blob[128];
	const char *config = text_of(json_object_get(manifest, "config"), "digest");
	size_t i = 0;
	const json_t *l = NULL;
	if (!unpack_blob_name(config, blob, sizeof(blob)))
		return ward_err_set(
			err, -EBADMSG, "the image does not name its configuration by SHA-256");
	int r = unpack_source_read(a->s, blob, config, &m->config, err);
	json_array_foreach(json_object_get(manifest, "layers"), i, l)
	{
		const char *type = text_of(l, "mediaType"), *digest = text_of(l, "digest");
		bool known = false;
		for (size_t k = 0; type && k < sizeof(types) / sizeof(*types); k++)
			known |= strcmp(type, types[k]) == 0;
		if (r == 0 && !known)
			r = ward_err_set(err, -ENOTSUP,
				"a layer of the image has the unknown type %s",
				type ? type : "none");
		if (r == 0 && !unpack_blob_name(digest, blob, sizeof(blob)))
			r = ward_err_set(
				err, -EBADMSG, "the image does not name a layer by SHA-256");
		if (r == 0)
			r = add_layer(m, blob, digest, err);
	}
	return r;
}

/* Is this entry of an index for a machine like this one? */
static bool suits(const struct asked *a, const json_t *d)
{
	const json_t *p = json_object_get(d, "platform");
	const char *os = text_of(p, "os"), *arch = text_of(p, "architecture");
	return (!os || strcmp(os, "linux") == 0) && (!arch || strcmp(arch, a->platform) == 0);
}

static bool tagged(const struct asked *a, const json_t *d)
{
	const char *name = text_of(json_object_get(d, "annotations"), REF_NAME);
	const char *colon = name ? strrchr(name, ':') : NULL;
	return !a->tag ||
	       (name && (strcmp(name, a->tag) == 0 || (colon && strcmp(colon + 1, a->tag) == 0)));
}

/* The one entry that is meant. */
static int choose(const struct asked *a, const json_t *index, unsigned depth, const json_t **ret,
	struct ward_err *err)
{
	size_t i = 0, n = 0;
	const json_t *d = NULL;
	json_array_foreach(json_object_get(index, "manifests"), i, d)
	{
		if (!suits(a, d) || (depth == 0 && !tagged(a, d)))
			continue;
		*ret = d;
		n++;
	}
	if (n == 1)
		return 0;
	return ward_err_set(err, -EINVAL,
		n ? "the layout contains %zu images for linux/%s: choose one with --tag"
		  : "the layout holds %zu images for linux/%s%s%s",
		n, a->platform, a->tag ? " with the tag " : "", a->tag ? a->tag : "");
}

static int take_oci(const struct asked *a, struct unpack_image *m, struct ward_err *err)
{
	ward_cleanup(json_clear) json_t *o = NULL;
	int r = read_json(a->s, "index.json", NULL, &o, err);
	for (unsigned depth = 0; r == 0; depth++) {
		const json_t *d = NULL;
		char blob[128], digest[UNPACK_DIGEST_LEN + 1];
		/* A layout whose index names itself, or many, ends here. */
		if (depth == UNPACK_INDEX_DEPTH)
			return ward_err_set(err, -ELOOP,
				"the layout has indexes in more than %u levels",
				UNPACK_INDEX_DEPTH);
		r = choose(a, o, depth, &d, err);
		if (r < 0)
			return r;
		const char *named = text_of(d, "digest");
		if (!unpack_blob_name(named, blob, sizeof(blob)))
			return ward_err_set(
				err, -EBADMSG, "the layout does not name an image by SHA-256");
		memcpy(digest, named, sizeof(digest));
		json_decref(o);
		o = NULL;
		r = read_json(a->s, blob, digest, &o, err);
		if (r == 0 && !json_object_get(o, "manifests")) {
			memcpy(m->digest, digest, sizeof(digest));
			return take_layers(a, o, m, err);
		}
	}
	return r;
}

/* --- docker save --- */

/* The configuration has the digests of the layers as they are in the archive. */
static int take_docker(const struct asked *a, struct unpack_image *m, struct ward_err *err)
{
	ward_cleanup(json_clear) json_t *all = NULL;
	ward_cleanup(json_clear) json_t *config = NULL;
	uint8_t d[SHA256_DIGEST_SIZE];
	struct sha256_ctx ctx;
	int r = read_json(a->s, "manifest.json", NULL, &all, err);
	if (r < 0)
		return r;
	if (json_array_size(all) != 1)
		return ward_err_set(err, -EINVAL,
			"the archive contains %zu images: save one image only",
			json_array_size(all));
	const json_t *one = json_array_get(all, 0), *layers = json_object_get(one, "Layers");
	const char *name = text_of(one, "Config");
	if (!name)
		return ward_err_set(err, -EBADMSG, "manifest.json names no configuration");
	r = unpack_source_read(a->s, name, NULL, &m->config, err);
	if (r < 0)
		return r;
	sha256_init(&ctx);
	sha256_update(&ctx, m->config.len, (const uint8_t *)m->config.data);
	sha256_digest(&ctx, sizeof(d), d);
	unpack_digest_text(d, m->digest);
	config = json_loadb(m->config.data, m->config.len, JSON_REJECT_DUPLICATES, NULL);
	const json_t *ids = json_object_get(json_object_get(config, "rootfs"), "diff_ids");
	if (!ids || json_array_size(ids) != json_array_size(layers))
		return ward_err_set(
			err, -EBADMSG, "the archive does not have the layers of its configuration");
	for (size_t i = 0; r == 0 && i < json_array_size(layers); i++) {
		const char *layer = json_string_value(json_array_get(layers, i));
		const char *id = json_string_value(json_array_get(ids, i));
		char blob[128];
		if (!layer || !unpack_blob_name(id, blob, sizeof(blob)))
			return ward_err_set(
				err, -EBADMSG, "the image does not name a layer by SHA-256");
		r = add_layer(m, layer, id, err);
	}
	return r;
}

int unpack_manifest(const struct unpack_source *s, const char *platform, const char *tag,
	struct unpack_image *ret, struct ward_err *err)
{
	const struct asked a = {s, platform, tag};
	struct unpack_image m = {.layers = NULL};
	const bool oci = unpack_source_has(s, "oci-layout") && unpack_source_has(s, "index.json");
	int r = oci ? take_oci(&a, &m, err)
		: unpack_source_has(s, "manifest.json")
			? take_docker(&a, &m, err)
			: ward_err_set(err, -EINVAL,
				  "this is not an image: it has neither oci-layout nor manifest.json");
	if (r == 0 && m.n_layers == 0)
		r = ward_err_set(err, -EINVAL, "the image has no layers");
	if (r < 0)
		unpack_image_clear(&m);
	else
		*ret = m;
	return r;
}
