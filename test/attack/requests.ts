import {
  type Contract,
  type ContractOperation,
  type Node,
  resolveReference,
} from '../../src/contract/document.ts'
import { stringifyJson } from '../../src/contract/exact-integers.ts'

/** One request of each operation, with the body of an example of the contract, and records that exist. */
export interface SampleRequest {
  readonly operation: ContractOperation
  readonly path: string
  readonly contentType: string | undefined
  readonly body: string | undefined
}

/** Makes one for each operation of the contract. */
export function sampleRequests(
  { document, operations }: Contract,
  ids: Readonly<Record<string, string>>,
): readonly SampleRequest[] {
  return operations.map((operation) => ({
    operation,
    path: operation.path.replace(/\{(\w+)\}/g, (_all, name: string) => ids[name] ?? '1'),
    contentType: operation.body?.mediaTypes[0],
    body: exampleBody(document, operation),
  }))
}

function exampleBody(document: Node, { path, method, body }: ContractOperation): string | undefined {
  if (body === undefined) return undefined
  const item = (document.paths as Node)[path] as Node
  const operation = item[method.toLowerCase()] as { requestBody: Node }
  const { content } = resolveReference(document, operation.requestBody) as { content: Node }
  const { examples = {} } = Object.values(content)[0] as { examples?: Node }
  const [example] = Object.values(examples) as Node[]
  return example === undefined ? '{}' : stringifyJson(resolveReference(document, example).value)
}
