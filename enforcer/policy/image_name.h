/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How an image is named, in a policy and on the command line. A path begins with "/", "~/", "./" or
 * "../" and means a directory or an archive of the host. Everything else is a reference:
 *
 *   [HOST[:PORT]/]NAME[/NAME…][:TAG][@sha256:HEX]  or  sha256:HEX
 *
 * A reference never begins with "-" and has no character that a shell or an option would know, so
 * it can be handed to a program as an argument.
 */
#pragma once

#include <stdbool.h>

#include "enforcer/base/err.h"

#define WARD_IMAGE_NAME_MAX 255

/* The word for: no image, whatever a source before says. */
#define WARD_IMAGE_NONE "none"

bool ward_image_name_is_path(const char *value);
/* "sha256:" and 64 digits in lower case, and nothing behind. */
bool ward_image_name_is_digest(const char *value);
/* -EINVAL for what is neither a path nor a reference. */
int ward_image_name_check(const char *value, struct ward_err *err) ward_must_check;
