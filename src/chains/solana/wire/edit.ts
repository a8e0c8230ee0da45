import { lookupsOf, type Message } from './message.ts'

type Instruction = Message['instructions'][number]
type StaticAddress = Message['staticAccounts'][number]

/** Returns the same message with another blockhash, or nonce. */
export function withLifetime(message: Message, lifetimeToken: string): Message {
  return { ...message, lifetimeToken }
}

/**
 * Returns the same message with further instructions of one program, which use no accounts. They come last: some instructions refer to
 * others by index (those of the ed25519 program), and the first one has to advance a durable nonce.
 */
export function withInstructions(message: Message, program: string, datas: readonly Uint8Array[]): Message {
  if (datas.length === 0) return message
  const known = message.staticAccounts.indexOf(program as StaticAddress)
  const widened = known > 0 ? message : withProgram(message, program as StaticAddress)
  const programAddressIndex = known > 0 ? known : message.staticAccounts.length
  const added = datas.map((data): Instruction => ({ programAddressIndex, data }))
  return { ...widened, instructions: [...widened.instructions, ...added] }
}

/** A program is read-only and signs nothing, so its index is the last of the static accounts. */
function withProgram(message: Message, program: StaticAddress): Message {
  const { header, staticAccounts, instructions } = message
  const insertedAt = staticAccounts.length
  return {
    ...message,
    header: { ...header, numReadonlyNonSignerAccounts: header.numReadonlyNonSignerAccounts + 1 },
    staticAccounts: [...staticAccounts, program],
    // Accounts from tables come after it.
    instructions:
      lookupsOf(message).length === 0 ? instructions : instructions.map((one) => moveFrom(one, insertedAt)),
  }
}

function moveFrom(instruction: Instruction, insertedAt: number): Instruction {
  const { accountIndices } = instruction
  if (accountIndices === undefined) return instruction
  return {
    ...instruction,
    accountIndices: accountIndices.map((index) => (index >= insertedAt ? index + 1 : index)),
  }
}
