import type { ContractOperation, Node, Parameter } from './document.ts'

/** A schema with a name that no other schema of a request has. */
export interface NamedSchema {
  readonly name: string
  readonly schema: Node
}

/** The schemas that a request of an operation has to meet. */
export interface RequestSchemas {
  /** One for each parameter, because each of them can end a request in its own way. */
  readonly path: readonly (NamedSchema & { readonly parameter: Parameter })[]
  readonly query: NamedSchema
  readonly header: NamedSchema
  /** Absent when the operation takes no body. */
  readonly body: NamedSchema | undefined
}

/** Lists the schemas of an operation, for the validator and for the build that compiles them beforehand. */
export function requestSchemas({ id, parameters, body }: ContractOperation): RequestSchemas {
  const of = (place: Parameter['in']) => parameters.filter((parameter) => parameter.in === place)
  return {
    path: of('path').map((parameter) => ({
      name: `${id}_path_${parameter.name}`,
      schema: objectOf([parameter]),
      parameter,
    })),
    query: { name: `${id}_query`, schema: objectOf(of('query')) },
    header: { name: `${id}_header`, schema: objectOf(of('header')) },
    body: body && { name: `${id}_body`, schema: body.schema },
  }
}

/** An object gives normalisation a property to write to. */
function objectOf(parameters: readonly Parameter[]): Node {
  const properties = Object.fromEntries(parameters.map(({ name, schema }) => [name, schema]))
  const required = parameters.filter(({ isRequired }) => isRequired).map(({ name }) => name)
  return { type: 'object', properties, ...(required.length > 0 && { required }) }
}
