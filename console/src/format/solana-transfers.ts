import type { Schemas } from '../../../clients/typescript/src/index.ts'

type Instruction = Schemas['SolanaInstruction']

/** What an instruction moves, where that is certain by the instruction alone. */
export interface SolanaTransfer {
  readonly units: bigint
  readonly decimals: number
  /** Absent for lamports. */
  readonly mint?: string
  /** The index of the receiving account; it is a token account for tokens. */
  readonly receiver: number
}

const SYSTEM_PROGRAM = '11111111111111111111111111111111'
const TOKEN_PROGRAMS: ReadonlySet<string> = new Set([
  'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
  'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb',
])

/** The index of `SystemInstruction::Transfer`, 32 bits, and of `TokenInstruction::TransferChecked`, 8 bits. */
const SYSTEM_TRANSFER = 2
const TRANSFER_CHECKED = 12

const LAMPORT_DECIMALS = 9

/** Reads a transfer of lamports by the system program, or of tokens by a token program; undefined for every other instruction. */
export function transferIn({ program_id: program, accounts, data }: Instruction): SolanaTransfer | undefined {
  const view = viewOf(data)
  const { byteLength } = view
  if (program === SYSTEM_PROGRAM && byteLength === 12 && view.getUint32(0, true) === SYSTEM_TRANSFER)
    return { units: view.getBigUint64(4, true), decimals: LAMPORT_DECIMALS, receiver: 1 }
  // The program refuses a transfer whose decimals are not those of the mint, so these are certain.
  if (!TOKEN_PROGRAMS.has(program) || byteLength !== 10 || view.getUint8(0) !== TRANSFER_CHECKED)
    return undefined
  const mint = accounts[1]?.pubkey
  return {
    units: view.getBigUint64(1, true),
    decimals: view.getUint8(9),
    receiver: 2,
    ...(mint !== undefined && { mint }),
  }
}

/** Returns a transfer of another amount to another account. */
export function withTransfer(
  instruction: Instruction,
  { receiver, mint }: SolanaTransfer,
  changed: { readonly units: bigint; readonly to: string },
): Instruction {
  const view = viewOf(instruction.data)
  view.setBigUint64(mint === undefined ? 4 : 1, changed.units, true)
  const data = btoa(String.fromCharCode(...new Uint8Array(view.buffer)))
  const accounts = instruction.accounts.map((account, at) =>
    at === receiver ? { ...account, pubkey: changed.to } : account,
  )
  return { ...instruction, accounts, data }
}

function viewOf(base64: string): DataView<ArrayBuffer> {
  return new DataView(Uint8Array.from(atob(base64), (char) => char.charCodeAt(0)).buffer)
}
