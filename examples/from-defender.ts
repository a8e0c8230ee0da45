/**
 * Moves a program from the signer of OpenZeppelin Defender to the one of this service. Before:
 *
 *   import { Defender } from '@openzeppelin/defender-sdk'
 *   const defender = new Defender({ relayerApiKey, relayerApiSecret })
 *   const provider = defender.relaySigner.getProvider()
 *   const signer = await defender.relaySigner.getSigner(provider, { speed: 'fast' })
 *
 * After: the same `signer`, made of a client. What follows it stays, and `wait()` also follows replacements.
 *
 *   RELAYER_URL=… RELAYER_API_KEY=… RELAYER_ID=local-1 CONTRACT=0x… node from-defender.ts
 */
import { Contract } from 'ethers'
import { createRelayerClient } from 'multichain-relayer-client'
import { RelayerSigner } from 'multichain-relayer-client/ethers'

const {
  RELAYER_URL = 'http://localhost:8080',
  RELAYER_API_KEY = '',
  RELAYER_ID = 'local-1',
  CONTRACT = '',
} = process.env
const client = createRelayerClient({ baseUrl: RELAYER_URL, apiKey: RELAYER_API_KEY })
const signer = new RelayerSigner({ client, relayerId: RELAYER_ID })

const counter = new Contract(
  CONTRACT,
  ['function set(uint256 value)', 'function get() view returns (uint256)'],
  signer,
)
const sent = await counter.getFunction('set').send(7n)
const receipt = await sent.wait()
console.log(
  `block ${receipt?.blockNumber} includes it, and the contract says ${await counter.getFunction('get').staticCall()}`,
)
