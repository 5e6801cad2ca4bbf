/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the build id among the notes of the running program. */
#include "enforcer/base/build_id.h"

#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* Notes are words of four bytes: name and contents are each filled up to one (elf(5)). */
static size_t padded(size_t n)
{
	return (n + 3) & ~(size_t)3;
}

static bool build_id_in(const unsigned char *notes, size_t size, char *ret)
{
	static const char digits[] = "0123456789abcdef";
	ElfW(Nhdr) note;

	while (size >= sizeof(note)) {
		memcpy(&note, notes, sizeof(note));
		size_t name = padded(note.n_namesz), contents = padded(note.n_descsz);

		if (name > size - sizeof(note) || contents > size - sizeof(note) - name)
			return false;
		const unsigned char *id = notes + sizeof(note) + name;

		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
			memcmp(notes + sizeof(note), "GNU", 4) == 0 && note.n_descsz > 0 &&
			note.n_descsz <= (WARD_BUILD_ID_SIZE - 1) / 2) {
			for (size_t i = 0; i < note.n_descsz; i++) {
				ret[2 * i] = digits[id[i] >> 4];
				ret[2 * i + 1] = digits[id[i] & 15];
			}
			ret[(size_t)2 * note.n_descsz] = '\0';
			return true;
		}
		notes += sizeof(note) + name + contents;
		size -= sizeof(note) + name + contents;
	}
	return false;
}

/* The first object is the program itself (dl_iterate_phdr(3)): the answer ends the walk. */
static int look_at_object(struct dl_phdr_info *object, size_t size, void *ret)
{
	for (size_t i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &object->dlpi_phdr[i];

		if (part->p_type == PT_NOTE &&
			build_id_in((const unsigned char *)(object->dlpi_addr + part->p_vaddr),
				part->p_memsz, ret))
			break;
	}
	return 1;
}

const char *ward_build_id(char ret[WARD_BUILD_ID_SIZE])
{
	memcpy(ret, "unknown", sizeof("unknown"));
	dl_iterate_phdr(look_at_object, ret);
	return ret;
}
