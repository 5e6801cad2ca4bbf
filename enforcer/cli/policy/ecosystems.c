/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Registries: the documentation of each package manager, and what a build with an empty cache
 * connects to. Ports: the documentation of each server.
 */
#include "enforcer/cli/policy/ecosystems.h"

#include <fcntl.h>
#include <sys/stat.h>

static const struct ecosystem table[] = {
	{.name = "node",
		.marks = {"package.json"},
		.registries = {"registry.npmjs.org"},
		.settings = {".npmrc"},
		.tools = {".nvm/versions"},
		.guards =
			"; node: the scripts of package.json and node_modules/.bin run when somebody calls npm\n"
			"; outside. To keep the agent from them (npm install then fails inside):\n"
			"; read = /workspace/package.json\n"
			"; read = /workspace/node_modules\n"},
	{.name = "python",
		.marks = {"pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "Pipfile",
			"uv.lock", ".venv", "pytest.ini", "tox.ini", "conftest.py"},
		.registries = {"pypi.org", "files.pythonhosted.org"},
		.settings = {".config/pip/pip.conf", ".pip/pip.conf"},
		.guards =
			"; python: an active .venv puts its bin first in PATH, setup.py and conftest.py run with\n"
			"; pip and pytest outside. To keep the agent from them:\n"
			"; read = /workspace/.venv\n"
			"; read = conftest.py\n"},
	{.name = "rust",
		.marks = {"Cargo.toml"},
		.registries = {"index.crates.io", "static.crates.io"},
		.settings = {".cargo/config.toml"},
		.tools = {".cargo/bin", ".cargo/registry", ".rustup/toolchains"},
		.guards =
			"; rust: build.rs and procedural macros run in every cargo build outside. To keep the\n"
			"; agent from build scripts:\n"
			"; read = build.rs\n"},
	{.name = "go",
		.marks = {"go.mod", "go.work"},
		.registries = {"proxy.golang.org", "sum.golang.org"},
		.settings = {".config/go/env"},
		.tools = {"go/pkg/mod", "sdk"},
		.guards =
			"; go: tests and `go generate` run what they say. The vendored modules can be kept:\n"
			"; read = /workspace/vendor\n"},
	{.name = "deno",
		.marks = {"deno.json", "deno.jsonc", "deno.lock"},
		.registries = {"jsr.io", "npm.jsr.io", "registry.npmjs.org"}},
	{.name = "ruby",
		.marks = {"Gemfile", "Gemfile.lock"},
		.registries = {"rubygems.org", "index.rubygems.org"}},
	{.name = "php",
		.marks = {"composer.json"},
		.registries = {"repo.packagist.org", "packagist.org"}},
	{.name = "java",
		.marks = {"pom.xml", "build.gradle", "build.gradle.kts", "settings.gradle",
			"settings.gradle.kts"},
		.registries = {"repo.maven.apache.org", "repo1.maven.org", "plugins.gradle.org"}},
	{.name = "C",
		.marks = {"Makefile", "CMakeLists.txt", "meson.build", "configure.ac", "configure"},
		.guards =
			"; C: what the build files say runs with every make outside. To keep the agent from them:\n"
			"; read = Makefile\n"
			"; read = CMakeLists.txt\n"
			"; read = meson.build\n"},
};

static const struct ecosystem_server servers[] = {
	{"node", "vite", 5173},
	{"node", "next", 3000},
	{"node", "express", 3000},
	{"node", "fastify", 3000},
	{"node", "koa", 3000},
	{"node", "@nestjs/core", 3000},
	{"node", "react-scripts", 3000},
	{"node", "nuxt", 3000},
	{"node", "astro", 4321},
	{"node", "@angular/cli", 4200},
	{"node", "webpack-dev-server", 8080},
	{"node", "parcel", 1234},
	{"node", "storybook", 6006},
	{"python", "flask", 5000},
	{"python", "django", 8000},
	{"python", "uvicorn", 8000},
	{"python", "fastapi", 8000},
	{"python", "gunicorn", 8000},
	{"python", "streamlit", 8501},
	{"python", "jupyterlab", 8888},
	{"python", "notebook", 8888},
	{"rust", "rocket", 8000},
	{"rust", "actix-web", 8080},
	{"rust", "axum", 3000},
	{"go", "github.com/gin-gonic/gin", 8080},
	{"go", "github.com/gofiber/fiber", 3000},
	{"go", "github.com/labstack/echo", 1323},
};

const struct ecosystem *ecosystems(size_t *ret_n)
{
	*ret_n = sizeof(table) / sizeof(*table);
	return table;
}

const struct ecosystem_server *ecosystem_servers(size_t *ret_n)
{
	*ret_n = sizeof(servers) / sizeof(*servers);
	return servers;
}

bool ecosystem_is(const struct ecosystem *e, int dir)
{
	struct stat st;
	for (size_t i = 0; i < ECOSYSTEM_MARKS_MAX && e->marks[i]; i++)
		if (fstatat(dir, e->marks[i], &st, AT_SYMLINK_NOFOLLOW) == 0)
			return true;
	return false;
}
