import { getBase58Decoder, getTransactionDecoder } from '@solana/kit'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createWallet, signContent } from '../../../../simulators/solana/wallet.ts'
import { checkRequest } from '../../../../src/chains/solana/check.ts'
import type { SolanaInstruction } from '../../../../src/chains/solana/content.ts'
import { composeMessage } from '../../../../src/chains/solana/request-content.ts'
import {
  accountsOf,
  COMPUTE_BUDGET_PROGRAM,
  instructionAccounts,
} from '../../../../src/chains/solana/wire/addresses.ts'
import { withInstructions, withLifetime } from '../../../../src/chains/solana/wire/lookups.ts'
import {
  decodeMessage,
  encodeMessage,
  type Message,
  programOf,
  readTransaction,
  transactionSize,
  writeTransaction,
  writeUnsigned,
} from '../../../../src/chains/solana/wire/message.ts'
import { someAddress } from '../build.ts'

const PAYER = createWallet()
const FRIEND = createWallet()
const NAMES = [PAYER.address, ...Array.from({ length: 12 }, (_, index) => someAddress(index + 1))]

const bytes = fc.uint8Array({ maxLength: 40 })
const step = fc.record({
  program: fc.constantFrom(...NAMES.slice(1)),
  accounts: fc.array(fc.record({ address: fc.constantFrom(...NAMES), writes: fc.boolean() }), {
    maxLength: 8,
  }),
  data: bytes,
})
const steps = fc.array(step, { minLength: 1, maxLength: 4 })
const blockhash = fc
  .uint8Array({ minLength: 32, maxLength: 32 })
  .map((value) => getBase58Decoder().decode(value))

const lookups = fc.record({
  table: fc.constant(someAddress(99)),
  writable: fc.uniqueArray(fc.constantFrom(...NAMES.slice(1, 7)), { minLength: 1, maxLength: 3 }),
})

/** A transaction that a third party's code has written: legacy, or of version 0 with addresses from a table. */
const externallySigned = fc
  .record({ steps, blockhash, lookups: fc.option(lookups, { nil: undefined }), two: fc.boolean() })
  .map(({ lookups: taken, two, ...content }) => {
    const programs = new Set(content.steps.map(({ program }) => program))
    // Programs have to stand in the message itself.
    const writable = taken?.writable.filter((name) => !programs.has(name)) ?? []
    const tables = { [someAddress(99)]: NAMES }
    return signContent({
      ...content,
      signers: two ? [PAYER, FRIEND] : [PAYER],
      ...(writable.length > 0 ? { lookups: [{ table: someAddress(99), writable }], tables } : {}),
    })
  })

/** Describes the meaning of an instruction independently of the indexes of its accounts. */
function meaningOf(message: Message, lookedUp: readonly string[] = []) {
  const accounts = accountsOf(message, [{ writable: lookedUp, readonly: [] }])
  return message.instructions.map((instruction) => ({
    program: programOf(message, instruction),
    accounts: instructionAccounts(accounts, instruction),
    data: Buffer.from(instruction.data ?? []).toString('hex'),
  }))
}

describe('a transaction of others', () => {
  test('is read, and written again byte for byte', () => {
    fc.assert(
      fc.property(externallySigned, ({ bytes: raw, message }) => {
        const read = readTransaction(raw)
        expect(read).toBeDefined()
        if (read === undefined) return
        expect(Buffer.from(writeTransaction(read.signatures, read.messageBytes))).toEqual(Buffer.from(raw))
        expect(Buffer.from(encodeMessage(read.message))).toEqual(Buffer.from(message))
        // The SDK reads the bytes.
        const { messageBytes, signatures } = getTransactionDecoder().decode(raw)
        expect(Buffer.from(messageBytes)).toEqual(Buffer.from(read.messageBytes))
        expect(Object.keys(signatures)).toEqual(read.message.staticAccounts.slice(0, read.signatures.length))
      }),
    )
  })

  test('with a byte more or less is none', () => {
    fc.assert(
      fc.property(externallySigned, fc.uint8Array({ minLength: 1, maxLength: 3 }), ({ bytes: raw }, more) => {
        expect(readTransaction(Buffer.concat([raw, more]))).toBeUndefined()
        expect(readTransaction(raw.subarray(0, -1))).toBeUndefined()
      }),
    )
  })

  test('with any byte changed is another one, or none; never an exception', () => {
    fc.assert(
      fc.property(
        externallySigned,
        fc.nat(),
        fc.integer({ min: 1, max: 255 }),
        ({ bytes: raw }, at, change) => {
          const changed = Uint8Array.from(raw)
          const position = at % changed.length
          changed[position] = (changed[position] ?? 0) ^ change
          const request = {
            type: 'solana',
            speed: 'fast',
            transaction: Buffer.from(changed).toString('base64'),
          } as const
          checkRequest(request, { address: PAYER.address, policies: {} })
          const read = readTransaction(changed)
          if (read === undefined) return
          expect(Buffer.from(writeTransaction(read.signatures, read.messageBytes))).toEqual(
            Buffer.from(changed),
          )
        },
      ),
    )
  })

  test('keeps the meaning of each instruction when others are added behind them', () => {
    fc.assert(
      fc.property(externallySigned, fc.array(bytes, { minLength: 1, maxLength: 3 }), ({ message }, datas) => {
        const before = decodeMessage(Uint8Array.from(message))
        if (before === undefined) throw new Error('no message')
        const after = withInstructions(withLifetime(before, someAddress(50)), COMPUTE_BUDGET_PROGRAM, datas)
        const again = decodeMessage(encodeMessage(after))
        if (again === undefined) throw new Error('no message any more')
        const names = NAMES.slice(1, 4)
        expect(meaningOf(again, names).slice(0, before.instructions.length)).toEqual(meaningOf(before, names))
        expect(meaningOf(again).slice(before.instructions.length)).toEqual(
          datas.map((data) => ({
            program: COMPUTE_BUDGET_PROGRAM,
            accounts: [],
            data: Buffer.from(data).toString('hex'),
          })),
        )
      }),
    )
  })
})

describe('instructions of a request', () => {
  const instructions = steps.map((list) =>
    list.map(
      ({ program, accounts, data }): SolanaInstruction => ({
        programId: program,
        accounts: accounts.map(({ address, writes }) => ({
          pubkey: address,
          isSigner: address === PAYER.address,
          isWritable: writes,
        })),
        data: Buffer.from(data).toString('base64'),
      }),
    ),
  )

  test('become a message that means just them', () => {
    fc.assert(
      fc.property(instructions, (list) => {
        const message = decodeMessage(encodeMessage(composeMessage(PAYER.address, list)))
        if (message === undefined) throw new Error('no message')
        expect(message.staticAccounts[0]).toBe(PAYER.address)
        expect(message.header.numSignerAccounts).toBe(1)
        const written = new Set(
          list
            .flatMap(({ accounts }) => accounts.filter((one) => one.isWritable))
            .map(({ pubkey }) => pubkey),
        )
        expect(meaningOf(message)).toEqual(
          list.map(({ programId, accounts, data }) => ({
            program: programId,
            accounts: accounts.map(({ pubkey }) => ({
              address: pubkey,
              signer: pubkey === PAYER.address,
              writable: pubkey === PAYER.address || written.has(pubkey),
            })),
            data: Buffer.from(data, 'base64').toString('hex'),
          })),
        )
        expect(transactionSize(message)).toBe(Buffer.from(writeUnsigned(message), 'base64').length)
      }),
    )
  })
})

test('any bytes are a transaction or not, and never an exception', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 1_300 }), (raw) => {
      readTransaction(raw)
      decodeMessage(raw)
    }),
  )
})
