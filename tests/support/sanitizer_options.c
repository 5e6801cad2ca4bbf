/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For sanitized builds of programs that run inside the sandbox: the environment there is the
 * command's own, and LeakSanitizer needs to attach to its process, which the sandbox refuses.
 */
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
	return "detect_leaks=0";
}
