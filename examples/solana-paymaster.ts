/**
 * Pays the fee of a third party on Solana: the user signs a transfer and has no SOL to spare for fees, and the relayer is the fee payer.
 *
 *   RELAYER_URL=… RELAYER_API_KEY=… RELAYER_ID=sol-1 USER_SEED=<64 hexadecimal digits> RECEIVER=… node solana-paymaster.ts
 */
import {
  AccountRole,
  address,
  appendTransactionMessageInstruction,
  createKeyPairSignerFromPrivateKeyBytes,
  createSolanaRpcFromTransport,
  createTransactionMessage,
  getBase58Decoder,
  getStructEncoder,
  getU32Encoder,
  getU64Encoder,
  pipe,
  type RpcTransport,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signAndSendTransactionMessageWithSigners,
} from '@solana/kit'
import { type Body, createRelayerClient } from 'multichain-relayer-client'
import { relayerSigner } from 'multichain-relayer-client/solana-kit'

const { RELAYER_URL = 'http://localhost:8080', RELAYER_API_KEY = '', RELAYER_ID = 'sol-1' } = process.env
const { USER_SEED = '', RECEIVER = '' } = process.env
const client = createRelayerClient({ baseUrl: RELAYER_URL, apiKey: RELAYER_API_KEY })
const payer = await relayerSigner({ client, relayerId: RELAYER_ID })
const user = await createKeyPairSignerFromPrivateKeyBytes(Buffer.from(USER_SEED, 'hex'))

const transport = ({ payload }: { payload: unknown }) =>
  client.relayers.callRpc(RELAYER_ID, payload as Body<'callRpc'>)
const rpc = createSolanaRpcFromTransport(transport as RpcTransport)
const { value: blockhash } = await rpc.getLatestBlockhash().send()

const transfer = {
  programAddress: address('11111111111111111111111111111111'),
  accounts: [
    { address: user.address, role: AccountRole.WRITABLE_SIGNER, signer: user },
    { address: address(RECEIVER), role: AccountRole.WRITABLE },
  ],
  data: getStructEncoder([
    ['instruction', getU32Encoder()],
    ['lamports', getU64Encoder()],
  ]).encode({ instruction: 2, lamports: 20_000n }),
} as const
const message = pipe(
  createTransactionMessage({ version: 0 }),
  (message) => setTransactionMessageFeePayerSigner(payer, message),
  (message) => setTransactionMessageLifetimeUsingBlockhash(blockhash, message),
  (message) => appendTransactionMessageInstruction(transfer, message),
)
console.log(`sent: ${getBase58Decoder().decode(await signAndSendTransactionMessageWithSigners(message))}`)
