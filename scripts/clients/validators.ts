import { CODEGEN_JSON, CONTRACT_YAML, NPM_TOOLS, OUT, PYTHON, SPECTRAL_RULES } from './paths.ts'
import { run } from './run.ts'
import type { Step } from './steps.ts'

const DOCUMENTS = [
  ['openapi.yaml', CONTRACT_YAML],
  ['?profile=codegen', CODEGEN_JSON],
] as const

/** The validators that people know, each for both documents. */
export const VALIDATORS: readonly Step[] = [
  {
    name: 'openapi.yaml valid for Redocly (recommended-strict)',
    run: () => run(['redocly', 'lint', CONTRACT_YAML]),
  },
  {
    name: '?profile=codegen valid for Redocly (spec)',
    run: () => run(['redocly', 'lint', '--extends=spec', CODEGEN_JSON], { cwd: OUT }),
  },
  ...DOCUMENTS.flatMap(([name, file]) => [
    { name: `${name} valid for Spectral (spectral:oas, no warning)`, run: () => spectral(file) },
    { name: `${name} valid for swagger-parser`, run: () => swaggerParser(file) },
    {
      name: `${name} valid for openapi-spec-validator`,
      run: () => run([`${PYTHON}/bin/openapi-spec-validator`, file]),
    },
  ]),
]

async function spectral(file: string): Promise<void> {
  await run([
    `${NPM_TOOLS}/node_modules/.bin/spectral`,
    'lint',
    '--fail-severity=hint',
    '--ruleset',
    SPECTRAL_RULES,
    file,
  ])
}

const PARSE = 'import parser from "@apidevtools/swagger-parser"; await parser.validate(process.argv[1])'

async function swaggerParser(file: string): Promise<void> {
  await run([process.execPath, '--input-type=module', '--eval', PARSE, file], { cwd: NPM_TOOLS })
}
