import { NATIVE } from '../../effects.ts'
import { lamportsIn, type SystemKind, systemKindOf } from '../wire/system-instruction.ts'
import type { ReadCall } from './call.ts'

/** An instruction that takes lamports from its first account. */
interface Debit {
  /** The index of the account that receives. */
  readonly receiver: number
  /** The length of the data without the seed, in bytes. */
  readonly bytes: number
  /** The place of the seed's length, which has eight bytes. */
  readonly seedAt?: number
}

const DEBITS: Readonly<Partial<Record<SystemKind, Debit>>> = {
  createAccount: { receiver: 1, bytes: 52 },
  createAccountWithSeed: { receiver: 1, bytes: 92, seedAt: 36 },
  transfer: { receiver: 1, bytes: 12 },
  transferWithSeed: { receiver: 2, bytes: 52, seedAt: 12 },
}

/** Instructions that move nothing, and the length of their data in bytes. */
const HARMLESS: Readonly<Partial<Record<SystemKind, number>>> = {
  advanceNonce: 4,
  initializeNonce: 36,
  allocate: 12,
}

/** Reads an instruction of the system program. */
export const readSystem: ReadCall = ({ accounts, data }, address) => {
  const kind = systemKindOf(data)
  if (kind === undefined) return undefined
  const [first] = accounts
  const debit = DEBITS[kind]
  // An account with allocated data cannot send lamports any more.
  if (debit === undefined) return data.length === HARMLESS[kind] && first !== address ? {} : undefined
  if (data.length !== lengthOf(debit, data)) return undefined
  // A transfer takes from its first account only, so this one pays the relayer.
  if (first !== address) return kind === 'transfer' && first !== undefined ? {} : undefined
  const receiver = accounts[debit.receiver]
  const value = lamportsIn(data)
  if (receiver === undefined || value === undefined) return undefined
  return { receivers: [receiver], amounts: [{ asset: NATIVE, value }] }
}

/** A length of the seed beyond 2^53 loses digits here, but no data is that long. */
function lengthOf({ bytes, seedAt }: Debit, data: Buffer): number | undefined {
  if (seedAt === undefined) return bytes
  return data.length < seedAt + 8 ? undefined : bytes + Number(data.readBigUInt64LE(seedAt))
}
