import { fileURLToPath } from 'node:url'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** The tools stay here between runs; `npm ci` removes them. */
const CACHE = `${ROOT}node_modules/.cache/clients`

export const NPM_TOOLS = `${CACHE}/npm`
export const PYTHON = `${CACHE}/python`
export const GO_BIN = `${CACHE}/go-bin`
export const JAR_FOLDER = `${CACHE}/jar`

/** Everything that a run makes; the next run removes it. */
export const OUT = `${CACHE}/out`

/** The Go module that holds the generated clients and the programs that use them. */
export const GO_MODULE = `${OUT}/go`

export const PROGRAMS = `${ROOT}scripts/clients`

/** The exact versions of the tools from npm and PyPI, and of all that they install. */
export const LOCKS = `${PROGRAMS}/locks`

/** The rules by which Spectral reads both documents. */
export const SPECTRAL_RULES = `${PROGRAMS}/spectral.yaml`
export const CONTRACT_YAML = `${ROOT}openapi.yaml`
export const CONTRACT_JSON = `${OUT}/openapi.json`
export const CODEGEN_JSON = `${OUT}/codegen.json`
