/* SPDX-License-Identifier: Apache-2.0 */
/* Encodes what the signature of an attestation covers. */
#include "audit/verify/attest_form.h"

#include <string.h>

void ward_attest_pae(struct ward_buf *b, const void *payload, size_t len)
{
	ward_buf_printf(
		b, "DSSEv1 %zu %s %zu ", sizeof(WARD_ATTEST_TYPE) - 1, WARD_ATTEST_TYPE, len);
	ward_buf_add(b, payload, len);
}
