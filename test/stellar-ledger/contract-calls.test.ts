import {
  Address,
  Contract,
  nativeToScVal,
  Operation,
  type SorobanDataBuilder,
  scValToNative,
  xdr,
} from '@stellar/stellar-sdk'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { nonRefundableFee } from '../../simulators/stellar/soroban/fees.ts'
import {
  COUNTER,
  type ContractDesk,
  dataOf,
  INVOKED,
  increment,
  openContractDesk,
  person,
} from './contract-desk.ts'
import { codesOf, XLM } from './desk.ts'

let desk: ContractDesk
beforeEach(async () => {
  desk = await openContractDesk()
})
afterEach(() => desk.ledger.stop())

describe('a call', () => {
  test('runs, returns, tells its events, and gives back what was not used', async () => {
    const alice = desk.person()
    const contract = desk.ledger.contract(COUNTER)
    const transaction = await desk.prepare(alice, increment(contract, alice))
    expect(await desk.apply(transaction)).toEqual(INVOKED)
    const found = await desk.look(transaction)
    if (found.status !== 'SUCCESS') throw new Error(found.status)
    expect(found.returnValue && scValToNative(found.returnValue)).toBe(1)
    expect(found.events.contractEventsXdr.flat()).toHaveLength(1)
    const charged = found.resultXdr.feeCharged
    expect(charged).toBeLessThan(BigInt(transaction.fee))
    expect(desk.ledger.account(alice.publicKey())?.balance).toBe(1000n * XLM - charged)
  })

  test('that fails is told by its simulation, and costs its fee when it is sent', async () => {
    const alice = desk.person()
    const contract = desk.ledger.contract(COUNTER)
    const { simulation } = await desk.simulate(alice, new Contract(contract).call('fail'))
    expect(simulation).toMatchObject({ error: expect.stringContaining('as asked') })
    const good = await desk.prepare(alice, increment(contract, alice))
    const failing = desk.vary(good, alice, { operations: [new Contract(contract).call('fail')] })
    expect(await desk.apply(failing)).toEqual(['txFailed', 'invokeHostFunctionTrapped'])
  })

  test('of another kind is told before the ledger is looked at', async () => {
    const { simulation } = await desk.simulate(desk.person(), Operation.bumpSequence({ bumpTo: '0' }))
    expect(simulation).toMatchObject({
      error: 'transaction contains unsupported operation type: OperationTypeBumpSequence',
      latestLedger: 0,
    })
  })

  test('of nothing that is there is told by its simulation', async () => {
    const nowhere = Address.contract(Buffer.alloc(32, 7)).toString()
    const { simulation } = await desk.simulate(desk.person(), increment(nowhere, desk.person()))
    expect(simulation).toMatchObject({ error: expect.stringContaining('MissingValue') })
  })
})

describe('what is declared', () => {
  test.each([
    ['fewer instructions', (data: SorobanDataBuilder) => data.setResources(1000, 1000, 1000)],
    [
      'fewer bytes to write',
      (data: SorobanDataBuilder) => data.setResources(10_000_000, 1000, 1).setResourceFee(1_000_000n),
    ],
  ])('%s than are used end the call', async (_name, change) => {
    const alice = desk.person()
    const good = await desk.prepare(alice, increment(desk.ledger.contract(COUNTER), alice))
    expect(await desk.apply(desk.vary(good, alice, { data: change }))).toEqual([
      'txFailed',
      'invokeHostFunctionResourceLimitExceeded',
    ])
  })

  test('an entry that is not in the footprint cannot be touched', async () => {
    const alice = desk.person()
    const good = await desk.prepare(alice, increment(desk.ledger.contract(COUNTER), alice))
    const bad = desk.vary(good, alice, { data: (data) => data.setReadWrite([]) })
    expect(await desk.apply(bad)).toEqual(['txFailed', 'invokeHostFunctionTrapped'])
  })

  test.each([
    [
      'a resource fee that does not cover the resources',
      (data: SorobanDataBuilder) => data.setResourceFee(100n),
    ],
    ['more instructions than there are', (data: SorobanDataBuilder) => data.setResources(200_000_000, 0, 0)],
  ])('%s is refused at once', async (_name, change) => {
    const alice = desk.person()
    const good = await desk.prepare(alice, increment(desk.ledger.contract(COUNTER), alice))
    const sent = await desk.send(desk.vary(good, alice, { data: change }))
    expect([sent.status, ...codesOf(sent.errorResult)]).toEqual(['ERROR', 'txSorobanInvalid'])
  })

  test('an entry that is declared as read cannot be written', async () => {
    const alice = desk.person()
    const good = await desk.prepare(alice, increment(desk.ledger.contract(COUNTER), alice))
    const { readOnly, readWrite } = dataOf(good).resources.footprint
    const swapped = (data: SorobanDataBuilder) => data.setFootprint([...readOnly, ...readWrite], [])
    const bad = desk.vary(good, alice, { data: swapped })
    expect(await desk.apply(bad)).toEqual(['txFailed', 'invokeHostFunctionTrapped'])
  })

  test('nothing left for the rent of a new entry', async () => {
    const alice = desk.person()
    const silent = desk.ledger.contract({
      keep(env) {
        env.set(xdr.ScVal.scvSymbol('kept'), xdr.ScVal.scvBool(true))
        return undefined
      },
    })
    const good = await desk.prepare(alice, new Contract(silent).call('keep'))
    const spent = nonRefundableFee(dataOf(good).resources, good.toEnvelope().toXdr().length)
    const bad = desk.vary(good, alice, { data: (data) => data.setResourceFee(spent + 1n) })
    expect(await desk.apply(bad)).toEqual(['txFailed', 'invokeHostFunctionInsufficientRefundableFee'])
  })

  test('nothing left for rent and events', async () => {
    const alice = desk.person()
    const good = await desk.prepare(alice, increment(desk.ledger.contract(COUNTER), alice))
    const size = good.toEnvelope().toXdr().length
    const spent = nonRefundableFee(dataOf(good).resources, size)
    const bad = desk.vary(good, alice, { data: (data) => data.setResourceFee(spent + 1n) })
    expect(await desk.apply(bad)).toEqual(['txFailed', 'invokeHostFunctionInsufficientRefundableFee'])
  })

  test('a call without resources, and one beside another operation, are malformed', async () => {
    const alice = desk.person()
    const operation = increment(desk.ledger.contract(COUNTER), alice)
    const bare = await desk.send(desk.build(alice, [operation]))
    expect(codesOf(bare.errorResult)).toEqual(['txMalformed'])
    expect(bare.errorResult?.feeCharged).toBe(0n)
    const good = await desk.prepare(alice, operation)
    const beside = Operation.bumpSequence({ bumpTo: '0' })
    const two = desk.vary(good, alice, { operations: [...good.tx.operations, beside] })
    expect(codesOf((await desk.send(two)).errorResult)).toEqual(['txMalformed'])
  })
})

describe('the contract of the native asset', () => {
  test('moves the same money that payments move', async () => {
    const [alice, bob] = [desk.person(), desk.person()]
    const lumens = new Contract(desk.ledger.nativeContract)
    const amount = nativeToScVal(5n * XLM, { type: 'i128' })
    expect(await desk.run(alice, lumens.call('transfer', person(alice), person(bob), amount))).toEqual(
      INVOKED,
    )
    expect(desk.ledger.account(bob.publicKey())?.balance).toBe(1005n * XLM)
    const returned = await desk.ask(alice, lumens.call('balance', person(bob)))
    expect(returned && scValToNative(returned)).toBe(1005n * XLM)
  })

  test('does not move what is not there', async () => {
    const [alice, bob] = [desk.person(), desk.person()]
    const amount = nativeToScVal(1000n * XLM, { type: 'i128' })
    const transfer = new Contract(desk.ledger.nativeContract).call(
      'transfer',
      person(alice),
      person(bob),
      amount,
    )
    expect((await desk.simulate(alice, transfer)).simulation).toMatchObject({
      error: expect.stringContaining('not sufficient'),
    })
  })
})

test('an account waits with a contract call or with something else, not with both', async () => {
  const [alice, payer] = [desk.person(), desk.person()]
  const call = await desk.prepare(alice, increment(desk.ledger.contract(COUNTER), alice))
  expect((await desk.send(desk.bump(payer, call, BigInt(call.fee) + 1000n))).status).toBe('PENDING')
  const plain = Operation.bumpSequence({ bumpTo: '0' })
  expect((await desk.send(desk.build(alice, [plain]))).status).toBe('TRY_AGAIN_LATER')
  expect((await desk.send(desk.build(payer, [plain]))).status).toBe('TRY_AGAIN_LATER')
})
