package tests;

import com.microsoft.azure.storage.RetryNoRetry;
import com.microsoft.azure.storage.table.CloudTableClient;
import com.microsoft.azure.storage.table.TablePayloadFormat;

/** microsoft-windowsazure-storage-sdk 0.6.0 with JSON. */
final class Library {
  static CloudTableClient configured(CloudTableClient client) {
    client.setRetryPolicyFactory(new RetryNoRetry()); // retries would only hide a 5xx
    client.setTablePayloadFormat(TablePayloadFormat.Json);
    return client;
  }

  private Library() {}
}
