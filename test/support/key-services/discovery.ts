import { readFileSync } from 'node:fs'
import { Ajv, type ValidateFunction } from 'ajv'
import type { ServiceAnswer, ServiceRequest } from './http-service.ts'

/** A method of a discovery document of Google. */
interface Method {
  readonly httpMethod: string
  /** The path with `{+name}` for the resource. */
  readonly path: string
  readonly parameters: Readonly<Record<string, { readonly location: string; readonly pattern?: string }>>
  readonly request?: string
  readonly response: string
}

/** The part of a discovery document that the service uses, as Google publishes it, without the descriptions for people. */
interface DiscoveryDocument {
  readonly methods: Readonly<Record<string, Method>>
  readonly schemas: Readonly<Record<string, object>>
}

/** The checks of a published description. Each returns the contradiction, or undefined. */
export interface DiscoveryChecks {
  request(request: ServiceRequest): string | undefined
  answer(request: ServiceRequest, answer: ServiceAnswer): string | undefined
}

/** Reads a document, and compiles the checks of requests and answers of its methods. */
export function createDiscoveryChecks(file: URL): DiscoveryChecks {
  const { methods, schemas }: DiscoveryDocument = JSON.parse(readFileSync(file, 'utf8'))
  const ajv = new Ajv({ strict: false, validateFormats: false, schemas: Object.values(schemas).map(closed) })
  const find = ({ method, path }: ServiceRequest) =>
    Object.values(methods).find(({ httpMethod, ...one }) => httpMethod === method && fits(one, path))
  return {
    request: (request) => {
      const method = find(request)
      if (method === undefined) return `${request.method} ${request.path} is no method of the document`
      const unknown = [...request.query.keys()].find((name) => method.parameters[name]?.location !== 'query')
      if (unknown !== undefined) return `the method has no parameter ${unknown}`
      if (method.request === undefined) return request.body === '' ? undefined : 'the method has no body'
      return problemOf(ajv.getSchema(method.request), JSON.parse(request.body))
    },
    answer: (request, { body }) => problemOf(ajv.getSchema(find(request)?.response ?? ''), body),
  }
}

/** Google refuses fields that it does not know. `id` and `$ref` of a document are names of schemas. */
function closed(schema: object): object {
  const text = JSON.stringify(schema, (_key, value) =>
    value?.properties === undefined ? value : { ...value, additionalProperties: false },
  )
  const { id, ...rest } = JSON.parse(text)
  return { $id: id, ...rest }
}

function fits({ path, parameters }: Pick<Method, 'path' | 'parameters'>, wanted: string): boolean {
  const [, name = ''] = /^v1\/\{\+(\w+)\}/.exec(path) ?? []
  const suffix = path.slice(`v1/{+${name}}`.length)
  const resource = parameters[name]?.pattern?.replace(/^\^|\$$/g, '') ?? ''
  const escaped = suffix.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&')
  return new RegExp(`^v1/${resource}${escaped}$`).test(decodeURIComponent(wanted.slice(1)))
}

function problemOf(validate: ValidateFunction | undefined, value: unknown): string | undefined {
  if (validate === undefined) throw new Error('the document does not describe this')
  if (validate(value)) return undefined
  const [first] = validate.errors ?? []
  return `${first?.instancePath} ${first?.message} ${JSON.stringify(first?.params)}`
}
