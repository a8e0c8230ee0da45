import { openapiGenerator } from './openapi-generator.ts'
import { CODEGEN_JSON, OUT, PYTHON } from './paths.ts'
import { run } from './run.ts'
import type { Step } from './steps.ts'

/** The folder that Python imports the generated clients from. */
export const PYTHON_CLIENTS = `${OUT}/python`

/** Generators of Python. */
export const PYTHON_GENERATORS: readonly Step[] = [
  { name: 'openapi-python-client: Python', run: openapiPythonClient },
  { name: 'openapi-generator: python', needs: 'java', run: openapiGeneratorPython },
]

async function openapiPythonClient(): Promise<void> {
  const output = ['--meta', 'none', '--output-path', `${PYTHON_CLIENTS}/openapi_python_client_client`]
  const tool = [
    `${PYTHON}/bin/openapi-python-client`,
    'generate',
    '--path',
    CODEGEN_JSON,
    '--fail-on-warning',
    ...output,
  ]
  // It looks for its formatter by name.
  await run(tool, { env: { PATH: `${PYTHON}/bin:${process.env.PATH}` } })
  await importAll('openapi_python_client_client')
}

async function openapiGeneratorPython(): Promise<void> {
  await openapiGenerator({ generator: 'python', folder: PYTHON_CLIENTS })
  await importAll('openapi_client')
}

const IMPORT_ALL = `
import importlib, pkgutil, sys
package = importlib.import_module(sys.argv[1])
names = [module.name for module in pkgutil.walk_packages(package.__path__, package.__name__ + ".")]
assert len(names) > 100, names
for name in names: importlib.import_module(name)
`

/** Imports every module of a client, which compiles it and resolves its types. */
async function importAll(client: string): Promise<void> {
  await run([`${PYTHON}/bin/python`, '-c', IMPORT_ALL, client], { cwd: PYTHON_CLIENTS })
}
