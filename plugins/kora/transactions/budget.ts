import { address, getCompiledTransactionMessageEncoder } from '@solana/kit'
import { COMPUTE_BUDGET_PROGRAM } from '../../shared/solana-transaction.ts'
import { KoraError } from '../errors.ts'
import { type Decoded, SIGNATURE_BYTES, type UserTransaction } from './transaction.ts'

const SET_UNIT_LIMIT = 2
const SET_UNIT_PRICE = 3

/** The network's default limit of an instruction, and the most of a transaction, in compute units. */
const UNITS_PER_INSTRUCTION = 200_000
const MAX_UNITS = 1_400_000

const MAX_TRANSACTION_BYTES = 1_232

/** What an instruction of the compute budget itself takes. */
const UNITS_OF_BUDGET = 150

/**
 * Returns the transaction with its compute budget spelled out, unsigned. A quote is of a transaction that the
 * service completes: it sets what is absent by the market. This one is signed as it is, so a price for
 * priority that it does not set costs nothing, and a limit that it does not set is the network's default. A
 * limit that it sets may be exactly what was measured, so it gets room for what is added to it, and the price
 * is so much lower that this costs nothing.
 */
export function withOwnBudget({ decoded, base64 }: UserTransaction): string {
  const set = new Map(
    decoded.instructions
      .filter(({ program }) => program === COMPUTE_BUDGET_PROGRAM)
      .map(({ data }) => [data[0], Buffer.from(data)]),
  )
  const [limit, price] = [set.get(SET_UNIT_LIMIT), set.get(SET_UNIT_PRICE)]
  if (price === undefined) {
    const roomy = limit && withBudget(decoded, number32(limit.readUInt32LE(1) + UNITS_OF_BUDGET))
    return append(roomy ?? decoded, Buffer.concat([Buffer.from([SET_UNIT_PRICE]), Buffer.alloc(8)])) ?? base64
  }
  const units = limit?.readUInt32LE(1) ?? UNITS_PER_INSTRUCTION * decoded.instructions.length
  const paid = BigInt(Math.min(MAX_UNITS, units))
  const lower = Buffer.from([SET_UNIT_PRICE, ...Buffer.alloc(8)])
  lower.writeBigUInt64LE((price.readBigUInt64LE(1) * paid) / (paid + BigInt(UNITS_OF_BUDGET)), 1)
  const hasRoom = Number(paid) + UNITS_OF_BUDGET <= MAX_UNITS
  const priced = withBudget(decoded, hasRoom ? lower : price)
  const roomy = number32(Number(paid) + UNITS_OF_BUDGET)
  const limited = limit === undefined ? append(priced, roomy) : encode(withBudget(priced, roomy).message)
  if (limited === undefined)
    throw new KoraError(
      'ValidationError',
      'A transaction with a price for priority must set its compute limit.',
    )
  return limited
}

function number32(units: number): Buffer {
  const data = Buffer.from([SET_UNIT_LIMIT, 0, 0, 0, 0])
  data.writeUInt32LE(Math.min(MAX_UNITS, units), 1)
  return data
}

/** Replaces the instruction of the compute budget of the same kind. */
function withBudget(decoded: Decoded, data: Buffer): Decoded {
  const { message, accounts } = decoded
  const instructions = message.instructions.map((one) =>
    accounts[one.programAddressIndex] === COMPUTE_BUDGET_PROGRAM && one.data?.[0] === data[0]
      ? { ...one, data: Uint8Array.from(data) }
      : one,
  )
  return { ...decoded, message: { ...message, instructions } as Decoded['message'] }
}

/** Appends an instruction of the compute budget; undefined if there is no room for it. */
function append({ message }: Decoded, data: Buffer): string | undefined {
  const { staticAccounts, header } = message
  const program = address(COMPUTE_BUDGET_PROGRAM)
  const at = staticAccounts.indexOf(program)
  const added = at < 0 ? 1 : 0
  const moved = (index: number) => (index < staticAccounts.length ? index : index + added)
  const instructions = message.instructions.map((one) => ({
    ...one,
    ...(one.accountIndices && { accountIndices: one.accountIndices.map(moved) }),
  }))
  const longer = {
    ...message,
    staticAccounts: added ? [...staticAccounts, program] : [...staticAccounts],
    header: {
      ...header,
      numReadonlyNonSignerAccounts: header.numReadonlyNonSignerAccounts + added,
    },
    instructions: [
      ...instructions,
      {
        programAddressIndex: added ? staticAccounts.length : at,
        data: Uint8Array.from(data),
      },
    ],
  }
  return encode(longer)
}

/** Encodes a message with room for its signatures; undefined if that is too long. */
function encode(message: Decoded['message']): string | undefined {
  const bytes = Uint8Array.from(getCompiledTransactionMessageEncoder().encode(message))
  const count = message.header.numSignerAccounts
  const wire = Buffer.concat([Buffer.from([count]), Buffer.alloc(count * SIGNATURE_BYTES), bytes])
  return wire.length > MAX_TRANSACTION_BYTES ? undefined : wire.toString('base64')
}
