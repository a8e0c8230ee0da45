import type { ValidateFunction } from 'ajv'
import standalone from 'ajv/dist/standalone/index.js'
import type { Contract } from './document.ts'
import { ContractRouter } from './router.ts'
import { createAjv } from './schemas.ts'
import { createRequestValidator, nameOf } from './validator.ts'

/**
 * Returns the code of a CommonJS module that takes the place of prepared-validators.ts: a validator for each
 * schema that openapi-backend asks for. The code requires files of this folder and of AJV.
 */
export function prepareValidators(contract: Contract): string {
  const ajv = createAjv(contract, { normalise: true, keepsCode: true })
  const names: Record<string, string> = {}
  const validator = createRequestValidator(new ContractRouter(contract), (schema) => {
    const name = nameOf(schema)
    if (names[name] === undefined) ajv.addSchema(schema, name)
    names[name] = name
    return ajv.getSchema(name) as ValidateFunction
  })
  for (const { id } of contract.operations) validator.getRequestValidatorsForOperation(id)
  // The package is CommonJS, so its default export sits one level deeper.
  return `${standalone.default(ajv, names)}\nmodule.exports = { PREPARED: exports };\n`
}
