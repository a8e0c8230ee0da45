import {
  Address,
  Contract,
  Operation,
  rpc,
  SorobanDataBuilder,
  scValToNative,
  type TransactionBuilder,
  xdr,
} from '@stellar/stellar-sdk'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { COUNTER, type ContractDesk, INVOKED, increment, openContractDesk } from './contract-desk.ts'

let desk: ContractDesk
beforeEach(async () => {
  desk = await openContractDesk()
})
afterEach(() => desk.ledger.stop())

describe('deploying', () => {
  test('code is uploaded, and a contract made of it, with its constructor', async () => {
    const alice = desk.person()
    const wasm = Buffer.from('0061736d01000000', 'hex')
    const name = xdr.ScVal.scvSymbol('name')
    desk.ledger.program(wasm, {
      __constructor: (env, value) => {
        if (value) env.set(name, value)
        return undefined
      },
      name: (env) => env.get(name),
    })
    const upload = await desk.prepare(alice, Operation.uploadContractWasm({ wasm }))
    expect(await desk.apply(upload)).toEqual(INVOKED)
    const uploaded = await desk.look(upload)
    const wasmHash =
      uploaded.status === 'SUCCESS' && uploaded.returnValue && scValToNative(uploaded.returnValue)
    const create = await desk.prepare(
      alice,
      Operation.createCustomContract({
        address: new Address(alice.publicKey()),
        wasmHash,
        salt: Buffer.alloc(32, 1),
        constructorArgs: [xdr.ScVal.scvSymbol('wall-e')],
      }),
    )
    expect(await desk.apply(create)).toEqual(INVOKED)
    const created = await desk.look(create)
    const address = created.status === 'SUCCESS' && created.returnValue && scValToNative(created.returnValue)
    const returned = await desk.ask(alice, new Contract(address).call('name'))
    expect(returned && scValToNative(returned)).toBe('wall-e')
  })
})

test('code that is no WebAssembly is not uploaded', async () => {
  const upload = Operation.uploadContractWasm({ wasm: Buffer.from('7f454c4602010100', 'hex') })
  const { simulation } = await desk.simulate(desk.person(), upload)
  expect(simulation).toMatchObject({ error: expect.stringContaining('Error(WasmVm, InvalidInput)') })
})

describe('the life of entries', () => {
  test('before protocol 23, what is archived must be restored before; the simulation says how', async () => {
    const { ledger } = desk
    desk = await openContractDesk({ protocolVersion: 22, restoresAutomatically: false })
    await ledger.stop()
    const alice = desk.person()
    const contract = desk.ledger.contract(COUNTER)
    const before = await desk.prepare(alice, increment(contract, alice))
    desk.ledger.archive(new Contract(contract).getFootprint())
    expect(await desk.apply(before)).toEqual(['txFailed', 'invokeHostFunctionEntryArchived'])
    const { simulation } = await desk.simulate(alice, increment(contract, alice))
    if (!rpc.Api.isSimulationRestore(simulation)) throw new Error('Nothing is to be restored.')
    const { transactionData, minResourceFee } = simulation.restorePreamble
    const restore = desk.build(alice, [Operation.restoreFootprint({})], {
      fee: String(BigInt(minResourceFee) + 100n),
      change: (builder) => builder.setSorobanData(transactionData.build()),
    })
    expect(await desk.apply(restore)).toEqual(['txSuccess', 'restoreFootprintSuccess'])
    expect(await desk.run(alice, increment(contract, alice))).toEqual(INVOKED)
  })

  test('the call itself restores what it declares as archived (CAP-66)', async () => {
    const alice = desk.person()
    const contract = desk.ledger.contract(COUNTER)
    desk.ledger.archive(new Contract(contract).getFootprint())
    const { draft, simulation } = await desk.simulate(alice, increment(contract, alice))
    expect(rpc.Api.isSimulationRestore(simulation)).toBe(false)
    const ready = rpc.assembleTransaction(draft, simulation).build()
    ready.sign(alice)
    expect(await desk.apply(ready)).toEqual(INVOKED)
  })

  test('a life is made longer', async () => {
    const alice = desk.person()
    const key = new Contract(desk.ledger.contract(COUNTER)).getFootprint()
    const lifeOf = async () => (await desk.client.getLedgerEntries(key)).entries[0]?.liveUntilLedgerSeq
    const short = await lifeOf()
    const change = (builder: TransactionBuilder) =>
      builder.setSorobanData(new SorobanDataBuilder().setReadOnly([key]).build())
    const draft = desk.build(alice, [Operation.extendFootprintTtl({ extendTo: 3_000_000 })], {
      signers: [],
      change,
    })
    const ready = await desk.client.prepareTransaction(draft)
    ready.sign(alice)
    expect(await desk.apply(ready)).toEqual(['txSuccess', 'extendFootprintTtlSuccess'])
    expect([short, await lifeOf()]).toEqual([2_073_600, 3_000_002])
  })
})
