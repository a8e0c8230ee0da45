import { keccak256Hex } from '../../../lib/hash.ts'
import type { EvmLog } from '../../answer.ts'
import { CallProblem } from '../../call.ts'
import type { DecodedEvent } from '../content.ts'
import { type AbiEvent, type Parameter, parseSignature, readEvents, signatureOf, typeOf } from './abi.ts'
import { decodeValues, MAX_BYTES, showValue } from './decode-call.ts'

/**
 * The events of ERC-20, ERC-721 and ERC-1155, with the names of their indexed parameters. ERC-20 and ERC-721
 * share two events that differ only in what is indexed.
 */
const STANDARD_EVENTS: readonly AbiEvent[] = [
  standard('Transfer(address from, address to, uint256 value)', ['from', 'to']),
  standard('Transfer(address from, address to, uint256 tokenId)', ['from', 'to', 'tokenId']),
  standard('Approval(address owner, address spender, uint256 value)', ['owner', 'spender']),
  standard('Approval(address owner, address approved, uint256 tokenId)', ['owner', 'approved', 'tokenId']),
  standard('ApprovalForAll(address owner, address operator, bool approved)', ['owner', 'operator']),
  standard('TransferSingle(address operator, address from, address to, uint256 id, uint256 value)', [
    ...['operator', 'from', 'to'],
  ]),
  standard('TransferBatch(address operator, address from, address to, uint256[] ids, uint256[] values)', [
    ...['operator', 'from', 'to'],
  ]),
  standard('URI(string value, uint256 id)', ['id']),
]

function standard(signature: string, indexed: readonly string[]): AbiEvent {
  const { name, inputs } = parseSignature(signature)
  return { name, inputs: inputs.map((input) => ({ ...input, indexed: indexed.includes(input.name ?? '') })) }
}

/**
 * Decodes a log as an event of a standard, else as one of the registered ABI of its contract. A log that is
 * not exactly what the event emits is not decoded. Pure.
 *
 * @param registered items of the ABI that is registered for the contract
 */
export function decodeEvent(log: EvmLog, registered: readonly unknown[] = []): DecodedEvent | undefined {
  for (const event of STANDARD_EVENTS) {
    const decoded = decodeAs(event, log, 'standard')
    if (decoded !== undefined) return decoded
  }
  for (const event of readStored(registered)) {
    const decoded = decodeAs(event, log, 'registered')
    if (decoded !== undefined) return decoded
  }
  return undefined
}

/** A stored item that would be refused now is unknown: it makes no answer fail. */
function readStored(registered: readonly unknown[]): readonly AbiEvent[] {
  return registered.flatMap((item) => {
    try {
      return readEvents([item], 'abi')
    } catch (error) {
      if (error instanceof CallProblem) return []
      throw error
    }
  })
}

function decodeAs(
  event: AbiEvent,
  { topics: [topic, ...indexedTopics], data }: EvmLog,
  source: DecodedEvent['source'],
): DecodedEvent | undefined {
  const indexed = event.inputs.filter(isIndexed)
  if (indexed.length !== indexedTopics.length || data.length / 2 - 1 > MAX_BYTES) return undefined
  if (topic !== topicOf(event)) return undefined
  const others = event.inputs.filter((input) => !isIndexed(input))
  const inData = decodeValues(others, data.slice(2).toLowerCase())
  if (inData === undefined) return undefined
  const inTopics = indexed.map((input, index) => valueInTopic(input, indexedTopics[index] ?? ''))
  if (inTopics.includes(undefined)) return undefined
  const values = event.inputs.map((input) =>
    isIndexed(input) ? inTopics.shift() : showValue(input, inData.shift()),
  )
  const args = event.inputs.map((input, index) => ({
    name: input.name ?? null,
    type: typeOf(input),
    value: values[index] ?? '',
  }))
  return { event: signatureOf(event), source, args }
}

function isIndexed({ indexed }: Parameter): boolean {
  return indexed === true
}

function topicOf(event: AbiEvent): string {
  return keccak256Hex(Buffer.from(signatureOf(event)))
}

/**
 * In place of an indexed value that is not one word, a log has its hash (Solidity ABI, "Encoding of Indexed
 * Event Parameters").
 */
function valueInTopic(input: Parameter, topic: string) {
  const isWord = input.components === undefined && !/\[|^string$|^bytes$/.test(input.type)
  if (!isWord) return topic
  const decoded = decodeValues([input], topic.slice(2))
  return decoded && showValue(input, decoded[0])
}
