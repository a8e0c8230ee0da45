// Sends, reads, replaces and cancels a transaction with the Go client that openapi-generator made.
package main

import (
	"context"
	"fmt"
	"log"
	"math/big"
	"os"
	"time"

	client "clients/openapigenerator"
)

const (
	relayer  = "main"
	receiver = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC"
	// More than a 64-bit float holds.
	value       = "1000000000000000001"
	longestWait = 30 * time.Second
)

var (
	ctx = context.WithValue(context.Background(), client.ContextAccessToken, os.Getenv("API_KEY"))
	api *client.APIClient
)

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func require(holds bool, seen any) {
	if !holds {
		log.Output(2, fmt.Sprintf("unexpected: %v", seen))
		os.Exit(1)
	}
}

func request(value string, speed client.Speed) client.TransactionRequest {
	body := client.NewEvmTransactionRequest(value)
	body.SetTo(receiver)
	body.SetSpeed(speed)
	return client.EvmTransactionRequestAsTransactionRequest(body)
}

func read(id string) *client.EvmTransaction {
	answer, _, err := api.TransactionsAPI.GetTransactionById(ctx, relayer, id).Execute()
	must(err)
	return answer.Data.EvmTransaction
}

func reach(id string, status client.TransactionStatus) {
	for deadline := time.Now().Add(longestWait); read(id).Status != status; time.Sleep(50 * time.Millisecond) {
		require(time.Now().Before(deadline), "the transaction did not become "+string(status))
	}
}

func main() {
	configuration := client.NewConfiguration()
	configuration.Servers = client.ServerConfigurations{{URL: os.Getenv("BASE_URL")}}
	api = client.NewAPIClient(configuration)

	relayers, _, err := api.RelayersAPI.ListRelayers(ctx).Execute()
	must(err)
	require(len(relayers.Data) > 0, relayers)

	funds, _, err := api.RelayersAPI.GetRelayerBalance(ctx, relayer).Execute()
	must(err)
	balance, exact := new(big.Int).SetString(funds.Data.Balance.String(), 10)
	require(exact && balance.BitLen() > 64, funds)

	sending, _, err := api.TransactionsAPI.SendTransaction(ctx, relayer).TransactionRequest(request(value, client.SPEED_SAFE_LOW)).Execute()
	must(err)
	sent := sending.Data.EvmTransaction
	require(sent.Value == value, sent.Value)
	reach(sent.Id, client.TRANSACTIONSTATUS_SUBMITTED)

	replacing, _, err := api.TransactionsAPI.ReplaceTransaction(ctx, relayer, sent.Id).TransactionRequest(request("2", client.SPEED_FASTEST)).Execute()
	must(err)
	replaced := replacing.Data.EvmTransaction
	require(replaced.Id == sent.Id && replaced.Value == "2", replaced)
	require(*replaced.Nonce == *read(sent.Id).Nonce, *replaced.Nonce)

	_, _, err = api.TransactionsAPI.ReplaceTransaction(ctx, relayer, "nothing").TransactionRequest(request("2", client.SPEED_FASTEST)).Execute()
	refusal, refused := err.(*client.GenericOpenAPIError)
	require(refused, err)
	require(refusal.Model().(client.Failure).Code == client.ERRORCODE_TRANSACTION_NOT_FOUND, refusal.Model())

	canceling, _, err := api.TransactionsAPI.CancelTransaction(ctx, relayer, sent.Id).Execute()
	must(err)
	attempts := canceling.Data.EvmTransaction.Attempts
	require(attempts[0].Kind == client.ATTEMPTKIND_SEND, attempts)
	fmt.Println(sent.Id)
}
