// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import { Permit2, PermitToken } from "./contracts.sol";

// Stand-ins for the contracts of x402's scheme `batch-settlement`, written by their interface and the scheme's specification. They
// stand for x402BatchSettlement and its two collectors in what decides about money: who may fill, claim, settle, refund and
// withdraw, and how much. Events but one, and what is claimed without a signature, are left out.

/// A token with `receiveWithAuthorization` as well, as USDC has it.
contract ReceivingToken is PermitToken {
    constructor(string memory name_, string memory version_, uint256 feePercent_) PermitToken(name_, version_, feePercent_) {}

    function receiveWithAuthorization(
        address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes memory signature
    ) external {
        require(to == msg.sender, "caller must be the payee");
        require(block.timestamp > validAfter, "authorization is not yet valid");
        require(block.timestamp < validBefore, "authorization is expired");
        require(!authorizationState[from][nonce], "authorization is used or canceled");
        bytes32 typeHash = keccak256(
            "ReceiveWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
        );
        bytes32 hash = keccak256(abi.encodePacked(
            "\x19\x01", DOMAIN_SEPARATOR(), keccak256(abi.encode(typeHash, from, to, value, validAfter, validBefore, nonce))
        ));
        require(isSignedBy(from, hash, signature), "invalid signature");
        authorizationState[from][nonce] = true;
        emit AuthorizationUsed(from, nonce);
        move(from, to, value);
    }
}

/// Takes a deposit from its payer and hands it to the channels that call it.
interface Collector {
    function collect(address payer, address token, uint256 amount, bytes32 channelId, bytes calldata data) external;
}

contract Erc3009Collector is Collector {
    function collect(address payer, address token, uint256 amount, bytes32 channelId, bytes calldata data) external {
        (uint256 validAfter, uint256 validBefore, uint256 salt, bytes memory signature) = abi.decode(data, (uint256, uint256, uint256, bytes));
        bytes32 nonce = keccak256(abi.encode(channelId, salt));
        ReceivingToken(token).receiveWithAuthorization(payer, address(this), amount, validAfter, validBefore, nonce, signature);
        require(ReceivingToken(token).transfer(msg.sender, amount));
    }
}

contract Permit2Collector is Collector {
    address constant PERMIT2 = 0x000000000022D473030F116dDEE9F6B43aC78BA3;

    function collect(address payer, address token, uint256 amount, bytes32 channelId, bytes calldata data) external {
        (uint256 nonce, uint256 deadline, bytes memory signature, bytes memory permit) = abi.decode(data, (uint256, uint256, bytes, bytes));
        if (permit.length > 0) allow(payer, token, permit);
        Permit2(PERMIT2).permitWitnessTransferFrom(
            Permit2.PermitTransferFrom(Permit2.TokenPermissions(token, amount), nonce, deadline),
            Permit2.TransferDetails(msg.sender, amount),
            payer,
            keccak256(abi.encode(keccak256("DepositWitness(bytes32 channelId)"), channelId)),
            "DepositWitness witness)DepositWitness(bytes32 channelId)TokenPermissions(address token,uint256 amount)",
            signature
        );
    }

    function allow(address payer, address token, bytes memory permit) internal {
        (uint256 value, uint256 until, uint8 v, bytes32 r, bytes32 s) = abi.decode(permit, (uint256, uint256, uint8, bytes32, bytes32));
        try PermitToken(token).permit(payer, PERMIT2, value, until, v, r, s) {} catch {}
    }
}

contract BatchSettlement {
    struct ChannelConfig {
        address payer;
        address payerAuthorizer;
        address receiver;
        address receiverAuthorizer;
        address token;
        uint40 withdrawDelay;
        bytes32 salt;
    }
    struct Voucher { ChannelConfig channel; uint128 maxClaimableAmount; }
    struct VoucherClaim { Voucher voucher; bytes signature; uint128 totalClaimed; }
    struct Channel { uint128 balance; uint128 totalClaimed; }
    struct Withdrawal { uint128 amount; uint40 initiatedAt; }
    struct Receiver { uint128 totalClaimed; uint128 totalSettled; }

    mapping(bytes32 => Channel) public channels;
    mapping(bytes32 => Withdrawal) public pendingWithdrawals;
    mapping(address => mapping(address => Receiver)) public receivers;
    mapping(bytes32 => uint256) public refundNonce;

    event Settled(address indexed receiver, address indexed token, address indexed sender, uint128 amount);

    bytes32 constant CONFIG = keccak256(
        "ChannelConfig(address payer,address payerAuthorizer,address receiver,address receiverAuthorizer,address token,uint40 withdrawDelay,bytes32 salt)"
    );
    bytes32 constant VOUCHER = keccak256("Voucher(bytes32 channelId,uint128 maxClaimableAmount)");
    bytes32 constant REFUND = keccak256("Refund(bytes32 channelId,uint256 nonce,uint128 amount)");
    bytes32 constant ENTRY = keccak256("ClaimEntry(bytes32 channelId,uint128 maxClaimableAmount,uint128 totalClaimed)");
    bytes32 constant BATCH = keccak256(
        "ClaimBatch(ClaimEntry[] claims)ClaimEntry(bytes32 channelId,uint128 maxClaimableAmount,uint128 totalClaimed)"
    );

    function hashOf(bytes32 content) internal view returns (bytes32) {
        bytes32 domain = keccak256(abi.encode(
            keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"),
            keccak256("x402 Batch Settlement"), keccak256("1"), block.chainid, address(this)
        ));
        return keccak256(abi.encodePacked("\x19\x01", domain, content));
    }

    function getChannelId(ChannelConfig memory config) public view returns (bytes32) {
        return hashOf(keccak256(abi.encode(CONFIG, config)));
    }

    function multicall(bytes[] calldata data) external returns (bytes[] memory results) {
        results = new bytes[](data.length);
        for (uint256 i; i < data.length; i++) {
            (bool ok, bytes memory result) = address(this).delegatecall(data[i]);
            require(ok, "multicall failed");
            results[i] = result;
        }
    }

    function deposit(ChannelConfig calldata config, uint128 amount, address collector, bytes calldata data) external {
        bytes32 id = getChannelId(config);
        uint256 before = ReceivingToken(config.token).balanceOf(address(this));
        Collector(collector).collect(config.payer, config.token, amount, id, data);
        require(ReceivingToken(config.token).balanceOf(address(this)) == before + amount, "deposit is missing");
        channels[id].balance += amount;
    }

    function claimWithSignature(VoucherClaim[] calldata claims, bytes calldata signature) external {
        address authorizer = claims[0].voucher.channel.receiverAuthorizer;
        bytes32[] memory entries = new bytes32[](claims.length);
        for (uint256 i; i < claims.length; i++) {
            VoucherClaim calldata claim = claims[i];
            require(claim.voucher.channel.receiverAuthorizer == authorizer, "another authorizer");
            bytes32 id = getChannelId(claim.voucher.channel);
            entries[i] = keccak256(abi.encode(ENTRY, id, claim.voucher.maxClaimableAmount, claim.totalClaimed));
            take(id, claim);
        }
        require(isSignedBy(authorizer, hashOf(keccak256(abi.encode(BATCH, keccak256(abi.encodePacked(entries))))), signature), "not authorized");
    }

    function take(bytes32 id, VoucherClaim calldata claim) internal {
        ChannelConfig calldata config = claim.voucher.channel;
        bytes32 hash = hashOf(keccak256(abi.encode(VOUCHER, id, claim.voucher.maxClaimableAmount)));
        if (config.payerAuthorizer != address(0)) require(recover(hash, claim.signature) == config.payerAuthorizer, "invalid voucher");
        else require(isSignedBy(config.payer, hash, claim.signature), "invalid voucher");
        require(claim.totalClaimed <= claim.voucher.maxClaimableAmount, "more than the voucher");
        Channel storage channel = channels[id];
        if (claim.totalClaimed <= channel.totalClaimed) return;
        require(claim.totalClaimed <= channel.balance, "more than the channel");
        receivers[config.receiver][config.token].totalClaimed += claim.totalClaimed - channel.totalClaimed;
        channel.totalClaimed = claim.totalClaimed;
    }

    function settle(address receiver, address token) external {
        Receiver storage of_ = receivers[receiver][token];
        uint128 amount = of_.totalClaimed - of_.totalSettled;
        if (amount == 0) return;
        of_.totalSettled = of_.totalClaimed;
        require(ReceivingToken(token).transfer(receiver, amount));
        emit Settled(receiver, token, msg.sender, amount);
    }

    function refundWithSignature(ChannelConfig calldata config, uint128 amount, uint256 nonce, bytes calldata signature) external {
        bytes32 id = getChannelId(config);
        require(nonce == refundNonce[id], "another nonce");
        require(isSignedBy(config.receiverAuthorizer, hashOf(keccak256(abi.encode(REFUND, id, nonce, amount))), signature), "not authorized");
        refundNonce[id]++;
        uint128 given = least(amount, channels[id].balance - channels[id].totalClaimed);
        if (given == 0) return;
        Withdrawal storage pending = pendingWithdrawals[id];
        if (pending.amount <= given) delete pendingWithdrawals[id];
        else pending.amount -= given;
        give(id, config, given);
    }

    function initiateWithdraw(ChannelConfig calldata config, uint128 amount) external {
        bytes32 id = getChannelId(config);
        require(msg.sender == config.payer || msg.sender == config.payerAuthorizer, "not the payer");
        require(amount <= channels[id].balance - channels[id].totalClaimed, "more than is left");
        pendingWithdrawals[id] = Withdrawal(amount, uint40(block.timestamp));
    }

    function finalizeWithdraw(ChannelConfig calldata config) external {
        bytes32 id = getChannelId(config);
        Withdrawal memory pending = pendingWithdrawals[id];
        require(msg.sender == config.payer || msg.sender == config.payerAuthorizer, "not the payer");
        require(pending.initiatedAt != 0 && block.timestamp >= pending.initiatedAt + config.withdrawDelay, "too early");
        delete pendingWithdrawals[id];
        give(id, config, least(pending.amount, channels[id].balance - channels[id].totalClaimed));
    }

    function give(bytes32 id, ChannelConfig calldata config, uint128 amount) internal {
        channels[id].balance -= amount;
        require(ReceivingToken(config.token).transfer(config.payer, amount));
    }

    function least(uint128 one, uint128 other) internal pure returns (uint128) {
        return one < other ? one : other;
    }

    function recover(bytes32 hash, bytes calldata signature) internal pure returns (address) {
        require(signature.length == 65, "invalid signature");
        return ecrecover(hash, uint8(signature[64]), bytes32(signature[0:32]), bytes32(signature[32:64]));
    }

    function isSignedBy(address signer, bytes32 hash, bytes calldata signature) internal view returns (bool) {
        if (signer.code.length == 0) return signer != address(0) && recover(hash, signature) == signer;
        (bool ok, bytes memory answer) = signer.staticcall(abi.encodeWithSelector(0x1626ba7e, hash, signature));
        return ok && answer.length >= 32 && abi.decode(answer, (bytes4)) == 0x1626ba7e;
    }
}
