import type { Hex } from 'viem'
import { decodeAbiParameters, getAddress, parseAbiParameters } from 'viem/utils'
import type { EvmLog } from '../../answer.ts'
import { boundTransfers, type Transfer, type Transfers } from '../../effects.ts'
import { MAX_BYTES } from '../call/decode-call.ts'

/**
 * `Transfer(address,address,uint256)`: the event of ERC-20, and with the token as a topic that of ERC-721.
 */
const TRANSFER = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'

/**
 * The events of ERC-1155: `TransferSingle(address,address,address,uint256,uint256)` and the same with two
 * lists.
 */
const TRANSFER_SINGLE = '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62'
const TRANSFER_BATCH = '0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb'

/** The characters of one word of data. */
const WORD = 66

/**
 * Reads the transfers that logs tell, in their order. A contract tells only of itself, so its own address is
 * the asset.
 */
export function transfersInLogs(logs: Iterable<EvmLog>): Transfers {
  return boundTransfers(readAll(logs))
}

function* readAll(logs: Iterable<EvmLog>): Generator<Transfer> {
  for (const log of logs) yield* readLog(log)
}

function readLog({ address, topics, data }: EvmLog): readonly Transfer[] {
  const asset = address.toLowerCase()
  const [event, first, second, third] = topics
  switch (event) {
    case TRANSFER: {
      if (third !== undefined)
        return data === '0x' ? moved({ asset, amount: 1n, tokenId: BigInt(third) }, first, second) : []
      return data.length === WORD ? moved({ asset, amount: BigInt(data) }, first, second) : []
    }
    case TRANSFER_SINGLE:
    case TRANSFER_BATCH:
      return readTokens(event, data).flatMap(([tokenId, amount]) =>
        moved({ asset, amount, tokenId }, second, third),
      )
    default:
      return []
  }
}

type Moved = Pick<Transfer, 'asset' | 'amount' | 'tokenId'>

/**
 * Returns the transfer between the accounts of two topics; none if one of them is no address. The zero
 * address creates and destroys.
 */
function moved(what: Moved, sender: string | undefined, receiver: string | undefined): Transfer[] {
  const [from, to] = [addressIn(sender), addressIn(receiver)]
  if (from === undefined || to === undefined) return []
  return [{ ...(from !== ZERO && { from }), ...(to !== ZERO && { to }), ...what }]
}

const ZERO = `0x${'0'.repeat(40)}`

function addressIn(topic: string | undefined): string | undefined {
  const [, digits] = /^0x0{24}([0-9a-f]{40})$/.exec(topic ?? '') ?? []
  return digits === undefined ? undefined : getAddress(`0x${digits}`)
}

/** Reads the ids and the amounts of tokens; none from data of another form. */
function readTokens(event: string, data: string): readonly (readonly [bigint, bigint])[] {
  if (data.length / 2 - 1 > MAX_BYTES) return []
  try {
    if (event === TRANSFER_SINGLE) return [decodeAbiParameters(SINGLE, data as Hex)]
    const [ids, amounts] = decodeAbiParameters(BATCH, data as Hex)
    return ids.length === amounts.length ? ids.map((id, index) => [id, amounts[index] ?? 0n]) : []
  } catch {
    return [] // The library throws for data of another form.
  }
}

const SINGLE = parseAbiParameters('uint256, uint256')
const BATCH = parseAbiParameters('uint256[], uint256[]')
