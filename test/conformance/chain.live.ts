import { describeChain } from '../chains/conformance/conformance.ts'
import { startFaultyNode } from '../support/faulty-node.ts'
import { startBehindNode } from './behind-node.ts'
import { openNetwork } from './open-network.ts'

const network = await openNetwork()
const { rpcUrls } = network
const [url] = rpcUrls

describeChain(
  `${network.type} at ${new URL(url).host}`,
  async () => {
    const [self, other] = [await network.newAccount(), await network.newAccount()]
    const opening = await network.balanceOf(other.address)
    const [behind, deaf] = [await startBehindNode(url, network), await startFaultyNode(url)]
    deaf.fault = (methods) =>
      methods.some((method) => network.broadcastMethods.includes(method)) ? 'lose' : 'pass'
    // Each test begins right after a block, so that what it sends together can wait together.
    await network.pass()
    return {
      chain: network.chainAt(...rpcUrls),
      behind: network.chainAt(behind.url),
      deaf: network.chainAt(deaf.url),
      account: self.account,
      signingContext: (nonce) => ({
        sourceAccount: self,
        nonce: network.nonces ? nonce : undefined,
        account: self,
      }),
      move: (amount, change) => ({ ...network.transfer(self.address, other.address, amount), ...change }),
      received: async () => (await network.balanceOf(other.address)) - opening,
      include: () => network.pass(),
      stop: async () => {
        await behind.stop()
        await deaf.stop()
      },
    }
  },
  { nonces: network.nonces },
)
