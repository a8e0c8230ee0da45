import { loadContract, type Node } from '../../src/contract/document.ts'
import { parseJson } from '../../src/contract/exact-integers.ts'
import { createSchemaCompiler } from '../../src/contract/schemas.ts'

const contract = await loadContract()
const compiler = createSchemaCompiler(contract, { normalise: false })

/** The schemas of bodies in the section `webhooks` of the contract, by `event`. */
const bodies = new Map(
  Object.entries(contract.document.webhooks as Record<string, Node>).map(([event, { post }]) => {
    const { content } = (post as Node).requestBody as { content: Record<string, Node> }
    return [event, compiler.compile(content['application/json']?.schema as Node)]
  }),
)
const transaction = compiler.compile({ $ref: '#/components/schemas/Transaction' })

/** Returns the difference between the body of a delivery and the contract; undefined when there is none. */
export function checkWebhook(text: string): string | undefined {
  const body = parseJson(text) as { event: string; payload: { payload_type: string } }
  const validate = bodies.get(body.event)
  if (validate === undefined) return `the contract has no webhook ${body.event}`
  if (!validate(body))
    return JSON.stringify(validate.errors?.map(({ instancePath, message }) => [instancePath, message]))
  const { payload_type, ...rest } = body.payload
  if (payload_type !== 'transaction' || transaction(rest)) return undefined
  return JSON.stringify(transaction.errors?.map(({ instancePath, message }) => [instancePath, message]))
}
