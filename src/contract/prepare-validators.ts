import standalone from 'ajv/dist/standalone/index.js'
import type { Contract } from './document.ts'
import { createAjv, forAjv } from './schemas.ts'
import { type NamedSchema, type RequestSchemas, requestSchemas } from './validator.ts'

/**
 * Returns the code of a CommonJS module that takes the place of prepared-validators.ts. It requires files of this folder and of AJV.
 */
export function prepareValidators(contract: Contract): string {
  const ajv = createAjv(contract, { normalise: true, keepsCode: true })
  const schemas = contract.operations.flatMap((operation) => allOf(requestSchemas(operation)))
  for (const { name, schema } of schemas) ajv.addSchema(forAjv(schema) as object, name)
  const names = Object.fromEntries(schemas.map(({ name }) => [name, name]))
  // The package is CommonJS, so its default export sits one level deeper.
  return `${standalone.default(ajv, names)}\nmodule.exports = { PREPARED: exports };\n`
}

function allOf({ path, query, header, body }: RequestSchemas): NamedSchema[] {
  return [...path, query, header, ...(body === undefined ? [] : [body])]
}
